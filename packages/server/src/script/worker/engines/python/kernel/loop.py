"""
The event loop of scripts. What a handler goes on with after a wait belongs to it, whoever ended the
wait: a callback carries the context in which it was made, and the context names the run, one
execution of a handler. The worker runs the callbacks of one run at a time, as a slice of it.
"""

import asyncio
import contextvars
import sys
import time
from asyncio import events, futures, tasks
from collections import deque
from weakref import WeakSet

owner = contextvars.ContextVar("run", default=0)

# No wait of the node lasts longer: a timer that was cancelled leaves nothing behind for long.
_wait_most = 10
# What is due so soon is due now.
_resolution = 0.001


_when = events.TimerHandle.when


class _Timers:
    """The timers of a run, and until when the node waits for it."""

    __slots__ = ("handles", "waits")

    def __init__(self):
        self.handles = {}
        self.waits = {}


class Loop(asyncio.AbstractEventLoop):
    """Sockets, processes, threads and executors raise NotImplementedError."""

    def __init__(self, wake, begin_timer, report):
        self._wake = wake
        self._begin_timer = begin_timer
        self._report = report
        self._queues = {}
        self._tasks = {}
        self._roots = {}
        self._running = -1
        self._timers = {}
        self._last_timer = 0

    # What asyncio asks of a loop.

    def call_soon(self, callback, *args, context=None):
        handle = events.Handle(callback, args, self, context)
        run = owner.get() if context is None else context.get(owner, 0)
        queue = self._queues.get(run)
        if queue is None:
            queue = self._queues[run] = deque()
        if not queue and run != self._running:
            self._wake(run)
        queue.append(handle)
        return handle

    call_soon_threadsafe = call_soon

    def call_later(self, delay, callback, *args, context=None):
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(self, when, callback, *args, context=None):
        handle = events.TimerHandle(when, callback, args, self, context)
        run = handle._context.get(owner, 0)
        timers = self._timers.get(run) or _Timers()
        self._wait_until(when, self.time(), run, timers)
        self._timers[run] = timers
        timers.handles[id(handle)] = handle
        handle._scheduled = True
        return handle

    def time(self):
        return time.monotonic()

    def create_future(self):
        return futures.Future(loop=self)

    def create_task(self, coro, *, name=None, context=None, eager_start=None, **more):
        task = tasks.Task(coro, loop=self, name=name, context=context, eager_start=bool(eager_start))
        self._keep(owner.get() if context is None else context.get(owner, 0), task)
        return task

    def is_running(self):
        return True

    def is_closed(self):
        return False

    def get_debug(self):
        return False

    def get_task_factory(self):
        return None

    def call_exception_handler(self, context):
        self._report(context.get("message", ""), context.get("exception"))

    def _timer_handle_cancelled(self, handle):
        timers = self._timers.get(handle._context.get(owner, 0))
        if timers is not None:
            timers.handles.pop(id(handle), None)

    # What the worker asks.

    def begin(self, run, coro):
        """Runs a handler up to its first wait; the task that it has become."""
        self._running = run
        try:
            task = tasks.Task(coro, loop=self, eager_start=True)
            self._drain(run)
        finally:
            self._running = -1
        if not task.done():
            self._roots[run] = task
            self._keep(run, task)
        return task

    def go_on(self, run, begin=None, *args):
        """
        Runs a slice after the first: what is due, and all that it sets free. The task of the
        handler if it has ended with it.
        """
        self._running = run
        try:
            owner.set(run)
            if begin is not None:
                begin(*args)
            self._drain(run)
        finally:
            self._running = -1
        task = self._roots.get(run)
        if task is None or not task.done():
            return None
        del self._roots[run]
        return task

    def go_off(self, run, number):
        """The node has waited: runs what is due. The node's clock counts, which a test may move."""
        timers = self._timers.get(run)
        if timers is None:
            return
        now = max(self.time(), timers.waits.pop(number, 0))
        due = [each for each in timers.handles.values() if each.when() <= now + _resolution]
        for handle in sorted(due, key=_when):
            if timers.handles.pop(id(handle), None) is not None:
                handle._run()
        if timers.handles:
            try:
                self._wait_until(min(map(_when, timers.handles.values())), now, run, timers)
            except Exception as error:
                self._report("a timer does not go on", error)
        elif not timers.waits:
            self._timers.pop(run, None)

    def forget(self, run):
        """The run has been given up: none of its tasks goes on, and their `finally` ends now."""
        self._roots.pop(run, None)
        self._queues.pop(run, None)
        self._timers.pop(run, None)
        for task in self._tasks.pop(run, ()):
            if task.done():
                continue
            task._log_destroy_pending = False
            try:
                task.get_coro().close()
            except BaseException:
                pass
        self._queues.pop(run, None)
        self._timers.pop(run, None)

    def _wait_until(self, when, now, run, timers):
        """Asks the node to wait, unless it does so already and would be back in time."""
        if any(until <= when + _resolution for until in timers.waits.values()):
            return
        ms = round(min(max(when - now, _resolution), _wait_most) * 1000)
        self._last_timer += 1
        self._begin_timer(run, ms, self._last_timer)
        timers.waits[self._last_timer] = now + ms / 1000

    def _keep(self, run, task):
        kept = self._tasks.get(run)
        if kept is None:
            kept = self._tasks[run] = WeakSet()
        kept.add(task)

    def _drain(self, run):
        queue = self._queues.get(run)
        if queue is None:
            return
        while queue:
            handle = queue.popleft()
            if not handle._cancelled:
                handle._run()
        self._queues.pop(run, None)
        kept = self._tasks.get(run)
        if kept is not None and not kept:
            del self._tasks[run]


def install(loop):
    events._set_running_loop(loop)
    # A generator that nobody ended is closed where it is collected, like any other.
    sys.set_asyncgen_hooks(None, None)
