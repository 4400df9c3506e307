"""What the names in a condition can mean: the properties of one graph, and the variables of a loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from graphtide.errors import StatementError
from graphtide.graph.schema import GraphSchema, Property
from graphtide.gvdl import predicate, syntax
from graphtide.text import Span, error_at, hint_at_nearest

__all__ = ["Scope", "VertexScope"]

_ID = "id"


@dataclass(frozen=True, slots=True)
class Scope:
    """A graph's schema, the values of variables, and the text for errors to point into.

    A name means the property that is spelt so, or else the only one that is spelt so in other case. `id` is the
    number of an edge unless edges have a property of that name; `src.id` and `dst.id` are always the user's ids.
    """

    text: str
    graph: str
    schema: GraphSchema
    variables: Mapping[str, syntax.Literal] = field(default_factory=dict[str, syntax.Literal])

    def property(self, name: syntax.Property) -> predicate.Expression:
        """What a name in a condition stands for."""
        if name.end is None:
            return self._of_edge(name)
        side = next((each for each in predicate.Side if each.value == name.end.text.lower()), None)
        if side is None:
            hint = f"write src.{name.name} or dst.{name.name}"
            raise self.error(name.end.span, f'"{name.end.text}" is not an end of an edge', hint)
        return self._of_end(name, side)

    def variable(self, variable: syntax.Variable) -> syntax.Literal:
        """The literal that stands for a variable."""
        return self.value_of(variable.name, variable.span)

    def value_of(self, name: str, span: Span) -> syntax.Literal:
        """The value of a variable that is used at a place."""
        found = self.variables.get(name)
        if found is not None:
            return found
        # `$y_all` is one word; the variable may be a shorter one.
        inner = next((each for each in self.variables if name.startswith(each)), None)
        if inner is not None:
            hint = f"write ${{{inner}}}{name.removeprefix(inner)} if you mean ${inner}"
        elif self.variables:
            hint = f"the variable here is ${next(iter(self.variables))}"
        else:
            hint = f"variables come from a loop: for {name} in 1..10 [...]"
        raise self.error(span, f'there is no variable "{name}"', hint)

    def error(self, span: Span, message: str, hint: str) -> StatementError:
        """An error that points into the text."""
        return error_at(self.text, span, message, hint)

    def _of_edge(self, name: syntax.Property) -> predicate.Expression:
        found = self._match(name, self.schema.edges, "edge")
        if found is not None:
            return predicate.EdgeProperty(found.name, found.type)
        if name.name.lower() == _ID:
            return predicate.EdgeNumber()
        message = f'edge property "{name.name}" does not exist in graph "{self.graph}"'
        if name.span.of(self.text).startswith('"'):
            hint = f"a name stands in double quotes, a string in single ones: '{name.name}'"
        elif self.schema.node(name.name) is not None:
            hint = f"nodes have it: write src.{name.name} or dst.{name.name}"
        else:
            hint = hint_at_nearest(name.name, [each.name for each in self.schema.edges], "edge properties")
        raise self.error(name.span, message, hint)

    def _of_end(self, name: syntax.Property, side: predicate.Side) -> predicate.Expression:
        if name.name.lower() == _ID:
            return predicate.EndId(side, self.schema.id_type)
        found = self._match(name, self.schema.nodes, "node")
        if found is not None:
            return predicate.EndProperty(side, found.name, found.type)
        if self.schema.edge(name.name) is not None:
            hint = f"edges have it: write {name.name}"
        else:
            hint = hint_at_nearest(name.name, [each.name for each in self.schema.nodes], "node properties")
        raise self.error(name.span, f'node property "{name.name}" does not exist in graph "{self.graph}"', hint)

    def _match(self, name: syntax.Property, known: Sequence[Property], kind: str) -> Property | None:
        exact = [each for each in known if each.name == name.name]
        found = exact or [each for each in known if each.name.lower() == name.name.lower()]
        if len(found) > 1:
            listed = " and ".join(f'"{each.name}"' for each in found)
            raise self.error(
                name.span, f'{kind} property "{name.name}" may mean {listed}', hint="write one of them exactly"
            )
        return found[0] if found else None


@dataclass(frozen=True, slots=True)
class VertexScope(Scope):
    """A graph's schema where conditions speak of a vertex: names mean its properties, and `id` its id.

    What is found is a property of the source of an edge, so that whoever reads a predicate finds nothing new in it.
    """

    def property(self, name: syntax.Property) -> predicate.Expression:
        """What a name in a condition stands for."""
        if name.end is not None:
            hint = f"a vertex has no ends: write {name.name}"
            raise self.error(name.end.span, f'"{name.end.text}" does not go with a vertex', hint)
        return self._of_end(name, predicate.Side.SRC)
