"""SQL: tables that change, and queries on them that stay answered.

A query goes through `parse` (sqlglot's tree, every name resolved), `bind` (a relational `plan`, subqueries as
joins), `optimise` (conditions moved down, joins in order) and `compile` (collections of a dataflow). `database`
is the public face.
"""

from graphtide.sql.database import Database
from graphtide.sql.view import View

__all__ = ["Database", "View"]
