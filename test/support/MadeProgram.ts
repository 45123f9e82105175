import { inject } from "@effect/vitest"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { compileCache } from "./CompileCache.ts"

/** `stoa` as an operator starts it: from its sources. */
export const stoaProgram = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

/** What to start, and where what was compiled of it is kept. */
export interface Program {
  readonly file: string
  readonly environment: { readonly NODE_COMPILE_CACHE: string }
}

/** A program in the form that the run has made of it (`Programs.ts`), which starts in a third of the time. */
export const madeProgram = (program: string): Program => {
  const directory = inject("programs")
  return {
    file: join(directory, `${basename(program, ".ts")}.mjs`),
    environment: { NODE_COMPILE_CACHE: join(directory, "compiled") }
  }
}

/** A program from its sources. */
export const sourceProgram = (program: string): Program => ({
  file: program,
  environment: { NODE_COMPILE_CACHE: compileCache }
})
