"""What crosses between the worker and a script, as the script sees it."""

from collections.abc import Mapping
from marshal import dumps

# Without references: each value stands where it is used. It also ends a cycle with an error.
_format = 2


class Error(Exception):
    """What the functions of guildhall raise. `code` is one of the closed list."""

    def __init__(self, code, message="", index=None, reason=None):
        super().__init__(message)
        self.code = code
        self.message = message
        self.index = index
        self.reason = reason


Error.__module__ = "guildhall"


class Fail(Exception):
    """What `guildhall.fail` raises; it ends an RPC handler with a text for the client."""

    def __init__(self, text, more=""):
        super().__init__(text)
        self.more = more


Fail.__module__ = "guildhall"


class Row:
    """A ctx or a row: its members are attributes and keys. One that is not there is None."""

    _members = frozenset()

    def __getitem__(self, name):
        try:
            return self.__dict__[name]
        except KeyError:
            if name in self._members:
                return None
            raise

    def __setitem__(self, name, value):
        self.__dict__[name] = value

    def __contains__(self, name):
        return name in self.__dict__

    def __iter__(self):
        return iter(self.__dict__)

    def __len__(self):
        return len(self.__dict__)

    def __eq__(self, other):
        if isinstance(other, Row):
            other = other.__dict__
        return self.__dict__ == other

    __hash__ = None

    def __repr__(self):
        return f"Row({self.__dict__!r})"

    # A member of the same name hides these.
    def keys(self):
        return self.__dict__.keys()

    def values(self):
        return self.__dict__.values()

    def items(self):
        return self.__dict__.items()

    def get(self, name, default=None):
        return self.__dict__.get(name, default)


def maker(plan):
    """What makes rows of what the node sent, or None where nothing is to be made."""
    if plan["isJson"] or plan["holds"] == "nothing":
        return None
    if plan["holds"] == "object":
        return _row_maker(plan["members"])
    each = maker(plan["each"])
    if each is None:
        return None
    if plan["holds"] == "list":
        return lambda value: [each(item) for item in value] if type(value) is list else value
    return lambda value: (
        {name: each(item) for name, item in value.items()} if type(value) is dict else value
    )


def _row_maker(members):
    names = tuple(members)
    made = {name: make for name, plan in members.items() if (make := maker(plan)) is not None}
    kind = type("Row", (Row,), {"_members": frozenset(names), **dict.fromkeys(names)})
    new = object.__new__

    def make(value):
        # A ctx comes as its values, in the order of its members.
        if type(value) is tuple:
            value = dict(zip(names, value))
        elif type(value) is not dict:
            return value
        for name, of in made.items():
            if name in value:
                value[name] = of(value[name])
        row = new(kind)
        row.__dict__ = value
        return row

    return make


# Of rows without a plan: their members are what the node has sent.
row_of = _row_maker({})


def encode(message):
    """A tuple as the worker reads it. TypeError for what has no form there."""
    try:
        return dumps(message, _format)
    except ValueError:
        return dumps(tuple(_inside(n, item, -1) for n, item in enumerate(message)), _format)


def _plain(value, level):
    """Rows, mappings and subclasses as what they stand for."""
    if level > 66:
        raise TypeError("a value has more than 64 levels")
    if value is None or isinstance(value, bool) or value is ...:
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, Row):
        value = value.__dict__
    if isinstance(value, Mapping):
        return {_plain(name, level): _inside(name, each, level) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_inside(n, item, level) for n, item in enumerate(value)]
    raise Unfit(f"is a {type(value).__name__}, which is no JSON")


def _inside(step, value, level):
    try:
        return _plain(value, level + 1)
    except Unfit as error:
        error.path.insert(0, step)
        raise


class Unfit(TypeError):
    """A value that cannot leave the script. Its path begins with the item of the message."""

    def __init__(self, what):
        super().__init__(what)
        self.path = []

    def said(self, whole=""):
        steps = (f".{step}" if isinstance(step, str) else f"[{step}]" for step in self.path[1:])
        return f"{(whole + ''.join(steps)).removeprefix('.') or 'it'} {self.args[0]}"

    __str__ = said


Unfit.__module__, Unfit.__qualname__ = "builtins", "TypeError"
