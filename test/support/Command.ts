import { Effect } from "effect"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { madeProgram, stoaProgram } from "./MadeProgram.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** Runs the program as an operator does; its exit code, and what it wrote to either stream. */
export const stoa = (command: ReadonlyArray<string>, environment: Readonly<Record<string, string>>) =>
  Effect.callback<{ readonly code: number | null; readonly output: string }>((resume) => {
    const program = madeProgram(stoaProgram)
    const child = spawn(process.execPath, [program.file, ...command], {
      cwd: root,
      env: { ...process.env, ...program.environment, STOA_LOG_LEVEL: "error", ...environment }
    })
    let output = ""
    child.stdout.on("data", (chunk) => output += String(chunk))
    child.stderr.on("data", (chunk) => output += String(chunk))
    child.on("close", (code) => resume(Effect.succeed({ code, output })))
    return Effect.sync(() => child.kill("SIGKILL"))
  })
