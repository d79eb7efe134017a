# SPDX-License-Identifier: MIT
"""All tables of operators."""
import table_elementwise  # noqa: F401
import table_movement  # noqa: F401
import table_reductions  # noqa: F401
from fields import TABLE, Context, Impossible, Operator  # noqa: F401
