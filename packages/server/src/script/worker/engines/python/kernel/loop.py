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
        handle = events.TimerHandle(self.time() + delay, callback, args, self, context)
        self._last_timer += 1
        number = self._last_timer
        self._timers[number] = handle
        try:
            self._begin_timer(max(1, round(delay * 1000)), number)
        except BaseException:
            del self._timers[number]
            raise
        handle._scheduled = True
        return handle

    def call_at(self, when, callback, *args, context=None):
        return self.call_later(max(0, when - self.time()), callback, *args, context=context)

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
        pass

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

    def go_off(self, number):
        """A timer is due."""
        handle = self._timers.pop(number, None)
        if handle is not None and not handle.cancelled():
            handle._run()

    def forget(self, run):
        """The run has been given up: none of its tasks goes on, and their `finally` ends now."""
        self._roots.pop(run, None)
        self._queues.pop(run, None)
        for task in self._tasks.pop(run, ()):
            if task.done():
                continue
            task._log_destroy_pending = False
            try:
                task.get_coro().close()
            except BaseException:
                pass
        self._queues.pop(run, None)

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
