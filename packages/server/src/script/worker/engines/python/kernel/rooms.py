"""`guildhall.room`: the states of rooms stay in here, and are read when a slice has ended."""

from _guildhall.api import _count, _task_number, ask, handlers
from _guildhall.values import Error, row_of

_numbers = {}
_states = {}
_rooms = {}


def _call(name, *args):
    try:
        return ask(_numbers[name], *args)
    except (TypeError, ValueError) as error:
        raise Error("invalid_argument", f"room.{name}: {error}") from None


class StateRoom:
    """A room with state, as its handlers have it."""

    __slots__ = ("room_id",)

    def __init__(self, room_id):
        object.__setattr__(self, "room_id", room_id)

    def __setattr__(self, name, value):
        if name not in ("state", "label"):
            raise AttributeError(f"room: only state and label are set, not {name}")
        object.__setattr__(self, name, value)

    def _info(self, name):
        info = _call("info", self.room_id)
        return None if info is None else info.get(name)

    @property
    def match_id(self):
        return self._info("match_id")

    @property
    def name(self):
        return self._info("name")

    @property
    def members(self):
        return [row_of(member) for member in self._info("members") or []]

    @property
    def label(self):
        return row_of(self._info("label"))

    @label.setter
    def label(self, label):
        _call("relabel", self.room_id, label)

    @property
    def state(self):
        return _states.get(self.room_id)

    @state.setter
    def state(self, state):
        _states[self.room_id] = state

    def broadcast(self, kind, body, options=None, **named):
        _call("broadcast", self.room_id, kind, body, {**(options or {}), **named})

    def send(self, participant, kind, body, options=None, **named):
        _call("send", self.room_id, participant, kind, body, {**(options or {}), **named})

    def after(self, ms, fn):
        return _call("after", self.room_id, ms, _task_number(fn))


def _room_of(room_id):
    room = _rooms.get(room_id)
    if room is None:
        room = _rooms[room_id] = StateRoom(room_id)
    return room


def _forget(room_id):
    _states.pop(room_id, None)
    _rooms.pop(room_id, None)


def _write(room_id, state):
    _states[room_id] = state


# What a handler is called with: what it is about, a body or value, the id of the room.
_shapes = {
    "create": lambda about, value, room_id: (row_of(about), value),
    "restore": lambda about, value, room_id: (value, _room_of(room_id)),
    "view": lambda about, value, room_id: (_states.get(room_id),),
    "own": lambda about, value, room_id: (_states.get(room_id), row_of(about)),
    "ended": lambda about, value, room_id: (_room_of(room_id),),
    "message": lambda about, value, room_id: (row_of(about), value, _room_of(room_id)),
    "rpc": lambda about, value, room_id: (row_of(about), value, _room_of(room_id)),
}


def _usual(about, value, room_id):
    return (row_of(about), _room_of(room_id))


def _give(function, path, fn):
    handlers.append(fn)
    _call(function, path, len(handlers) - 1)


def _shaped(fn, shape):
    """A handler may leave out the last of its arguments."""
    wanted = _count(fn, 3)
    return lambda args: fn(*shape(*args)[:wanted])


def place(members, rows):
    """Puts `room` among the members of the module `guildhall`."""
    for row in rows:
        _numbers[row["name"]] = row["number"]
    members["room"] = room
    room.__module__ = "guildhall"


def room(name, definition=None, **members):
    """Defines rooms with state, by the name that their labels have as mode."""
    if definition is not None and not isinstance(definition, dict):
        raise Error("invalid_argument", "room: the definition must be a dict")
    plain = {}
    _call("define", name)
    for key, value in {**(definition or {}), **members}.items():
        if callable(value):
            _give("handler", key, _shaped(value, _shapes.get(key, _usual)))
        elif key in ("message", "rpc") and isinstance(value, dict):
            for each, fn in value.items():
                if not callable(fn):
                    raise Error("invalid_argument", f"room: {key} {each} is not callable")
                _give("reply", f"{key}.{each}", _shaped(fn, _shapes[key]))
        else:
            plain[key] = value
    _give("handler", "@read", lambda args: _states.get(args[2]))
    _give("handler", "@write", lambda args: _write(args[2], args[1]))
    _give("handler", "@forget", lambda args: _forget(args[2]))
    _call("done", plain)
