import { enableCompileCache } from "node:module"
import { fileURLToPath } from "node:url"

/*
 * Compiling takes most of a short command's time. Under `node_modules`, which only the owner may write, because code
 * there runs. NODE_COMPILE_CACHE names another directory.
 */
enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/stoa", import.meta.url)))

// Only later imports are cached. Before the first schema: compiled parsers save a quarter of a list's encoding (ADR
// 26).
await import("effect/schema/SchemaJITCompiler/enable")
const { runCommandLine } = await import("./layers/CommandLine.ts")
runCommandLine()
