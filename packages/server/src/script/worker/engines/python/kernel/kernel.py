"""
The part of the worker that runs inside the interpreter. The worker calls `run_handler`, `go_on` and
the like with arguments in the format of `marshal`, and gets answers in the same; the script calls
the worker through one function of bytes (see api.py).
"""

import asyncio
import builtins
import importlib
import os
import random
import signal
import sys
import time
import types
from inspect import isawaitable

from _guildhall import api, rooms
from _guildhall.api import FAILED, OK, PENDING, TIMER, WAKE, ask, handlers, raised, tasks, waiting
from _guildhall.loop import Loop, owner
from _guildhall.values import Fail, encode

game = "/game/"
# Folders that are shared: `../` for the author.
beside = "/beside/"

_pending = encode((PENDING,))
_coroutine = types.CoroutineType
_values = frozenset((str, bytes, dict, list, tuple, bool, int, float))


class Interrupted(BaseException):
    """The slice is past its time."""


def _interrupt(_signal, _frame):
    raise Interrupted


loop = Loop(
    wake=lambda run: ask(WAKE, run),
    begin_timer=lambda run, ms, number: ask(TIMER, run, ms, number),
    report=lambda message, error: _report(message, error),
)


def _report(message, error):
    what = _describe(error)[0] if isinstance(error, BaseException) else ""
    print(f"{message}: {what}" if what else message, file=sys.stderr)


# What the worker calls.


def run_handler(run, index, *args):
    owner.set(run)
    try:
        result = handlers[index](args)
        if result is None:
            return None
        if type(result) not in _values and isawaitable(result):
            task = loop.begin(run, _awaited(result))
            if not task.done():
                return _pending
            result = task.result()
        return _reply(result)
    except BaseException as error:
        return _failure(error)


def run_task(run, number):
    owner.set(run)
    try:
        result = tasks[number]()
        if result is None or not isawaitable(result):
            return None
        task = loop.begin(run, _awaited(result))
        if not task.done():
            return _pending
        task.result()
        return None
    except BaseException as error:
        return _failure(error)


def _awaited(result):
    return result if type(result) is _coroutine else _wait_for(result)


async def _wait_for(result):
    return await result


def settle(run, number, *answer):
    """What a function of the node has answered."""
    return _ended(loop.go_on(run, _settle, number, answer))


def build(identity, functions, hooks, room_functions):
    place_rooms = lambda members: rooms.place(members, room_functions)
    api.build(loop, identity, functions, hooks, place_rooms)


def _settle(number, answer):
    future, make, _run = waiting.pop(number)
    if future.done():
        return
    if answer[0] == OK:
        value = answer[1]
        future.set_result(value if make is None else make(value))
    else:
        future.set_exception(raised(*answer[1:]))
        # A caller that did not wait has not asked what became of it.
        future._Future__log_traceback = False


def go_on(run):
    return _ended(loop.go_on(run))


def go_off(run, number):
    return _ended(loop.go_on(run, loop.go_off, run, number))


def _reply(result):
    try:
        return encode((OK, result))
    except TypeError as error:
        raise TypeError(f"the reply: {error}") from None


def _ended(task):
    if task is None:
        return None
    try:
        return _reply(task.result())
    except BaseException as error:
        return _failure(error)


def forget(run):
    owner.set(run)
    for number in [number for number, waiting in waiting.items() if waiting[2] == run]:
        del waiting[number]
    loop.forget(run)


def release(number):
    tasks.pop(number, None)


def load(module, files):
    sys.path.insert(0, game[:-1])
    sys.path.append(beside[:-1])
    try:
        for file in files:
            _expect_own_name(file)
        importlib.import_module(module)
    except BaseException as error:
        return _failure(error)
    return None


def _expect_own_name(file):
    """A file that has the name of a module of Python would never be imported."""
    first = file.removeprefix("../").split("/")[0].removesuffix(".py")
    if file.endswith(".py") and first in sys.stdlib_module_names:
        message = f"{file} has the name of a module of Python: give it another"
        raise ImportError(message, name=first)


def awake(host):
    """The first call after the memory has been made or read: what must not come out of it."""
    api.connect(host)
    random.seed()


# Errors.


def _failure(error):
    if isinstance(error, Fail):
        return encode((FAILED, "fail", str(error), error.more))
    try:
        return encode((FAILED, "error", *_describe(error)))
    except BaseException:
        return encode((FAILED, "error", "an error that cannot be read", None, None))


_callers_most = 4


def _describe(error):
    """Message, file and line: the author's line nearest to the throw, and which led there."""
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ in ("builtins", "main") else _full_name(kind)
    message = f"{name}: {error.msg if isinstance(error, SyntaxError) else error}"
    places = []
    if isinstance(error, SyntaxError) and _is_of_game(error.filename):
        places.append((error.filename, error.lineno))
    places.extend(reversed(_frames(error.__traceback__)))
    if not places:
        return message, None, None
    names = list(dict.fromkeys(f"{_path_of(file)}:{line}" for file, line in places))
    if len(names) > 1:
        message += f" (called from {', '.join(names[1 : 1 + _callers_most])})"
    file, line = places[0]
    return message, _path_of(file), line


def _full_name(kind):
    return f"{kind.__module__}.{kind.__qualname__}"


def _frames(traceback):
    found = []
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if _is_of_game(file):
            found.append((file, traceback.tb_lineno))
        traceback = traceback.tb_next
    return found


def _is_of_game(file):
    return isinstance(file, str) and file.startswith((game, beside))


def _path_of(file):
    """As the author knows it."""
    return file[len(game) :] if file.startswith(game) else "../" + file[len(beside) :]


def _sleep(delay, result=None):
    """asyncio.sleep: a wait of the node, except for none at all."""
    return _sleep_for(delay, result) if delay > 0 else _asyncio_sleep(0, result)


async def _sleep_for(delay, result):
    await builtins.guildhall.sleep(max(1, round(delay * 1000)))
    return result


_asyncio_sleep = asyncio.sleep
asyncio.sleep = asyncio.tasks.sleep = _sleep


# What says more than a failure would.


def _no_sleep(_seconds):
    raise RuntimeError("time.sleep would hold up all players: use `await guildhall.sleep(ms)`")


time.sleep = _no_sleep
signal.signal(signal.SIGINT, _interrupt)

# None of these can do anything here; without them an error says so.
_missing = {
    "posix": (
        "_exit abort execv execve fork forkpty kill killpg popen posix_spawn posix_spawnp system wait "
        "waitpid"
    ),
    "_signal": "alarm pause pthread_kill raise_signal setitimer set_wakeup_fd siginterrupt signal sigwait",
}
for _module, _names in _missing.items():
    for _holder in (_module, {"posix": "os", "_signal": "signal"}[_module]):
        for _name in _names.split():
            sys.modules[_holder].__dict__.pop(_name, None)

# The half of Pyodide that joins Python with JavaScript is not there.
for _name in ("js", "pyodide", "pyodide_js", "_pyodide", "_pyodide_core"):
    sys.modules[_name] = None
