import { enableCompileCache } from "node:module"
import { fileURLToPath } from "node:url"

/*
 * What was compiled at one start is read at the next: most of a short command's time is the compiler's otherwise. Under
 * `node_modules`, which only the owner may write to, because code there runs; where this process
 * may not write either, it starts without. NODE_COMPILE_CACHE names another directory.
 */
enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/stoa", import.meta.url)))

// Only what is loaded after that comes from the cache.
// Before the first schema: parsers are then compiled, which takes a quarter off the encoding of a list (ADR 26).
await import("effect/schema/SchemaJITCompiler/enable")
const { runCommandLine } = await import("./layers/CommandLine.ts")
runCommandLine()
