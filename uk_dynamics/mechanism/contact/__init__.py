# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What contacts, stops, ropes and joints that stick do to a mechanism."""

from uk_dynamics.mechanism.contact.closed_contacts import CLOSE, ClosedContacts
from uk_dynamics.mechanism.contact.contact import SLOW, Contact, contact_row_names, contact_rows
from uk_dynamics.mechanism.contact.contact_dynamics import ContactDynamics
from uk_dynamics.mechanism.contact.contact_points import ContactPoints, Patch, contact_patches
from uk_dynamics.mechanism.contact.contact_reactions import TOUCHES, ContactReactions, Reactions
from uk_dynamics.mechanism.contact.contact_rollouts import (
    InterpretedContactDynamics,
    roll_over_contacts,
)
from uk_dynamics.mechanism.contact.impulses import LOOP_LOADS
from uk_dynamics.mechanism.contact.moreau_step import BALANCE, ContactStepping
