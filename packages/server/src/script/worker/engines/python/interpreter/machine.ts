/**
 * The interpreter as its package exports it: CPython in WebAssembly. What stands here is all that
 * this engine uses of it. Pyodide's own half, which joins Python with objects of JavaScript, is
 * never started: the interpreter is initialized like any other CPython.
 */
export type Machine = {
  HEAPU8: Uint8Array
  HEAP32: Int32Array
  growMemory(bytes: number): number | undefined
  addFunction(fn: (...args: number[]) => number, signature: string): number
  FS: {
    mkdirTree(path: string): void
    writeFile(path: string, bytes: Uint8Array | string): void
    chdir(path: string): void
  }
  ENV: Record<string, string>
  _malloc(bytes: number): number
  _free(at: number): void
  _PyImport_Inittab: number
  _PyInit__signal(): number
  _PyInit_posix(): number
  _PyInit_time(): number
  _Py_InitializeEx(signals: number): void
  _PyRun_SimpleStringFlags(text: number, flags: number): number
  _PyImport_ImportModule(name: number): number
  _PyObject_GetAttrString(object: number, name: number): number
  _PyObject_CallOneArg(callable: number, arg: number): number
  _PyObject_Call(callable: number, args: number, named: number): number
  _PyMarshal_ReadObjectFromString(at: number, bytes: number): number
  _PyBytes_AsString(object: number): number
  _PyBytes_Size(object: number): number
  _PyCMethod_New(definition: number, self: number, module: number, type: number): number
  _PyErr_Occurred(): number
  _PyErr_Clear(): void
  _PyErr_Print(): void
  _PyErr_NoMemory(): number
  _PyErr_CheckSignals(): number
  _PyThreadState_Get(): number
  _PyUnstable_ThreadState_SetStackProtection(thread: number, from: number, bytes: number): number
  _emscripten_stack_get_current(): number
  _PyThread_get_thread_ident(): number
  _PyThreadState_SetAsyncExc(thread: number, error: number): number
  _Py_IncRef(object: number): void
  _Py_DecRef(object: number): void
  __Py_NoneStruct: number
  _Py_EMSCRIPTEN_SIGNAL_HANDLING: number
  __Py_emscripten_signal_clock: number
}

/** The settings of the module, as the package takes them. */
export type MachineSettings = {
  noInitialRun: true
  INITIAL_MEMORY?: number
  thisProgram: string
  API: object
  preRun: ((machine: Machine) => void)[]
  instantiateWasm(imports: { env: Record<string, unknown> }, ready: Ready): object
  stdin(): null
  print(line: string): void
  printErr(line: string): void
}

type Ready = (instance: object, module: object) => void

export type CreateMachine = (settings: MachineSettings) => Promise<Machine>
