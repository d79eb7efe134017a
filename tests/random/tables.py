# SPDX-License-Identifier: MIT
"""All tables of operators."""

import table_control  # noqa: F401
import table_elementwise  # noqa: F401
import table_movement  # noqa: F401
import table_normalization  # noqa: F401
import table_reductions  # noqa: F401
import table_resize  # noqa: F401
import table_selection  # noqa: F401
import table_signal  # noqa: F401
import table_windows  # noqa: F401
from fields import TABLE, Context, Impossible, Operator  # noqa: F401
