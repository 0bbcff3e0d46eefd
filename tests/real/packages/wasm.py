"""wasmtime: two functions compiled, with its profiling for VTune switched on."""
import wasmtime

config = wasmtime.Config()
config.profiler = "vtune"
engine = wasmtime.Engine(config)
store = wasmtime.Store(engine)
module = wasmtime.Module(engine, """(module
  (func $twice (export "twice") (param i32) (result i32) local.get 0 i32.const 2 i32.mul)
  (func $thrice (export "thrice") (param i32) (result i32) local.get 0 i32.const 3 i32.mul))""")
exports = wasmtime.Instance(store, module, []).exports(store)
print(exports["twice"](store, 21), exports["thrice"](store, 14))
