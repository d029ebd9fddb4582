# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a user declares, resolved and evaluated; ``mechanism_class.py`` puts it together."""

from uk_dynamics.mechanism.files.tasks_specification import EncoderSpec
from uk_dynamics.mechanism.reality import Reality
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.mechanism.uncertainty import Uncertainty
