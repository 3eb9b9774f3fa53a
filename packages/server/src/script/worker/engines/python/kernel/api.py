"""The module `guildhall`, made of the rows of the script API, and its way to the worker."""

import builtins
import gc
import inspect
import sys
from asyncio import Future

from _guildhall.loop import install, owner
from _guildhall.values import Error, Fail, Unfit, encode, maker

# What the worker answers and is answered with: the first item says what it is.
OK, FAILED, PENDING, CALLED = 0, 1, 2, 3

# What is asked of the worker beside the functions of the script API, whose numbers are their places.
WAKE, TIMER, REVISION, STOP = -1, -2, -3, -4

handlers = []
tasks = {}
waiting = {}

_host = None
_last_task = 0


def connect(host):
    global _host
    _host = host


def ask(*request):
    """Asks the worker, and raises what it refuses with."""
    answer = _host(encode(request))
    if answer is None:
        return None
    if answer[0] == OK:
        return answer[1]
    if answer[0] == CALLED:
        return answer
    raise raised(*answer[1:])


def raised(code, message, index, reason):
    return Fail(message, reason) if code == "fail" else Error(code, message, index, reason)


# The module `guildhall`.


class Space:
    """`guildhall` and its parts. They cannot be changed."""

    __slots__ = ("__dict__", "_name", "_planned")

    def __init__(self, name):
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_planned", {})

    def __setattr__(self, name, _value):
        raise AttributeError(f"{self._name}.{name} cannot be changed")

    def __delattr__(self, name):
        raise AttributeError(f"{self._name}.{name} cannot be removed")

    def __getattr__(self, name):
        number = self._planned.get(name)
        # A mere mention of what is planned is an error, at the top level a failed load.
        if number is not None:
            ask(number)
        raise AttributeError(f"{self._name} has no attribute {name!r}")

    def __repr__(self):
        return f"<{self._name}>"


class Guildhall(Space):
    __slots__ = ()

    @property
    def revision_id(self):
        return ask(REVISION)


def build(loop, identity, functions, hooks, place_rooms):
    """Makes the module of rows of the script API."""
    api = Guildhall("guildhall")
    members = api.__dict__
    members.update(identity, Error=Error, __name__="guildhall", __path__=[], __spec__=None)
    for row in functions:
        _place(api, row, _function(loop, row))
    for row in hooks:
        _place(api, row, _hook(row))
    place_rooms(members)
    builtins.guildhall = sys.modules["guildhall"] = api
    install(loop)
    gc.freeze()


def _place(api, row, made):
    space, _, member = row["name"].rpartition(".")
    at = api
    if space:
        at = api.__dict__.setdefault(space, Space(f"guildhall.{space}"))
    if row["planned"]:
        at._planned[member] = row["number"]
    else:
        made.__name__ = made.__qualname__ = member
        made.__doc__ = row["doc"]
        made.__module__ = "guildhall"
        at.__dict__[member] = made


def _name_at(row, error):
    """Of the argument that cannot leave the script; the function comes before the first."""
    return "".join(row["params"][error.path[0] - 1 : error.path[0]])


def _function(loop, row):
    number, task_at = row["number"], row["task_at"]
    make = maker(row["ok"])
    bind = _binder(row)

    def call(*args, **named):
        if named:
            args = bind(args, named)
        if 0 <= task_at < len(args):
            args = (*args[:task_at], _task_number(args[task_at]), *args[task_at + 1 :])
        try:
            request = encode((number, *args))
        except (TypeError, ValueError) as error:
            text = error.said(_name_at(row, error)) if isinstance(error, Unfit) else error
            raise Error("invalid_argument", f"{row['name']}: {text}") from None
        answer = _host(request)
        if answer is None:
            return None
        if answer[0] == OK:
            value = answer[1]
            return value if make is None else make(value)
        if answer[0] == FAILED:
            raise raised(*answer[1:])
        future = Call(loop, answer[2])
        waiting[answer[1]] = (future, make, owner.get())
        return future

    return call


class Call(Future):
    """A call to the node that is waited for. Cancelling it stops it there as well."""

    __slots__ = ("_number",)

    def __init__(self, loop, number):
        super().__init__(loop=loop)
        self._number = number

    def cancel(self, msg=None):
        if not super().cancel(msg):
            return False
        ask(STOP, self._number)
        return True


Call.__module__ = "guildhall"


def _task_number(task):
    """A function that the worker calls later, until it says that it will not any more."""
    global _last_task
    if not callable(task):
        return None
    _last_task += 1
    tasks[_last_task] = task
    return _last_task


def _binder(row):
    """Puts arguments that were given by name into their places, and options into the last one."""
    name, params, options = row["name"], row["params"], row["options"]
    places = {param: at for at, param in enumerate(params)}

    def bind(args, named):
        bound = list(args)
        rest = {}
        for given, value in named.items():
            at = places.get(given)
            if at is None:
                rest[options.get(given, given)] = value
                continue
            if at < len(args):
                raise Error("invalid_argument", f"{name}: {given} is given twice")
            bound.extend([...] * (at + 1 - len(bound)))
            bound[at] = value
        if not rest:
            return tuple(bound)
        if not row["has_options"] or len(bound) > len(params):
            raise Error("invalid_argument", f"{name}: there is no argument {next(iter(rest))}")
        bound.extend([...] * (len(params) - len(bound)))
        given = bound[-1]
        bound[-1] = rest if given is ... else {**given, **rest}
        return tuple(bound)

    return bind


def _hook(row):
    number, slot = row["number"], row["slot"]
    makes = tuple(maker(plan) for plan in row["args"])

    def register(key, fn):
        if not callable(fn):
            ask(number, *key)
        handlers.append(_adapted(fn, makes))
        ask(number, *key, len(handlers) - 1)
        return fn

    def on_one(fn=None):
        return register((), fn) if fn is not None else lambda given: register((), given)

    def on_key(key, fn=None):
        return register((key,), fn) if fn is not None else lambda given: register((key,), given)

    def on_cron(name, cron, fn=None):
        key = (name, cron)
        return register(key, fn) if fn is not None else lambda given: register(key, given)

    return {"one": on_one, "cron": on_cron}.get(slot, on_key)


def _adapted(fn, makes):
    """A handler may leave out the last of its arguments."""
    wanted = _count(fn, len(makes))
    makes = makes[:wanted]
    if makes and makes[0] is not None and not any(makes[1:]):
        first = makes[0]
        if wanted == 1:
            return lambda args: fn(first(args[0]))
        if wanted == 2:
            return lambda args: fn(first(args[0]), args[1])
    return lambda args: fn(*(arg if make is None else make(arg) for arg, make in zip(args, makes)))


def _count(fn, most):
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return most
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in parameters):
        return most
    return min(most, sum(parameter.kind in places for parameter in parameters))
