import { Effect } from "effect"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { TestApp } from "../support/TestApp.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** Runs an example as a separate process against the running service; gives its exit code and all its output. */
export const example = (file: string, ...words: ReadonlyArray<string>) =>
  Effect.flatMap(
    TestApp,
    ({ url }) =>
      Effect.callback<{ readonly code: number | null; readonly output: string }>((resume) => {
        const child = spawn(process.execPath, [`examples/${file}`, ...words], {
          cwd: root,
          env: { ...process.env, STOA_BASE_URL: url, STOA_API_KEY: "dev-admin-key" }
        })
        let output = ""
        child.stdout.on("data", (chunk) => output += String(chunk))
        child.stderr.on("data", (chunk) => output += String(chunk))
        child.on("close", (code) => resume(Effect.succeed({ code, output })))
        return Effect.sync(() => void child.kill("SIGKILL"))
      })
  )
