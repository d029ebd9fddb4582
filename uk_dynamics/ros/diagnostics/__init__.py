# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What nodes tell on ``/diagnostics``.

:mod:`.motion` tells of motions, :mod:`.decision` of what servo_controller decides,
:mod:`.joint_state_estimate` of joint states that loops complete, and :mod:`.publisher` of
regularity and of messages that are not valid. A node adds its own state.
"""
