import { inject } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

interface Reported {
  readonly assertionResults: ReadonlyArray<{
    readonly fullName: string
    readonly status: string
    readonly failureMessages: ReadonlyArray<string>
  }>
}

/** How tests went: the first one that failed, as one line; `broken` when none did and the run is no good nevertheless. */
export type MutantRun =
  | { readonly outcome: "passed" }
  | { readonly outcome: "failed" | "broken"; readonly recorded: string }

const judged = (code: number | null, files: ReadonlyArray<Reported>): MutantRun => {
  const failed = files.flatMap((file) => file.assertionResults).find(({ status }) => status === "failed")
  if (failed !== undefined) {
    const [message = ""] = failed.failureMessages
    // A timeout does not show what the test would have found.
    const outcome = /(Test|Hook) timed out in/.test(message) ? "broken" : "failed"
    return { outcome, recorded: `${failed.fullName}: ${message.split("\n")[0]}` }
  }
  return code === 0 ? { outcome: "passed" } : { outcome: "broken", recorded: `tests ended with ${code}` }
}

/** Runs tests, up to the first that fails, with a filter taken out; they share the server of this run. */
export const runMutant = (mutant: string, tests: ReadonlyArray<string>): Effect.Effect<MutantRun> =>
  Effect.acquireUseRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "stoa-mutant-"))),
    (directory) =>
      Effect.gen(function*() {
        const report = join(directory, "report.json")
        const args = ["run", "-c", "vitest.mutant.config.ts", "--reporter=json", `--outputFile=${report}`, ...tests]
        const environment = { ...process.env, STOA_MUTANT: mutant, STOA_TEST_DATABASE_URL: inject("postgres").url }
        const code = yield* Effect.callback<number | null>((resume) => {
          const child = spawn("node_modules/.bin/vitest", args, { env: environment, stdio: "ignore" })
          child.on("close", (ended) => resume(Effect.succeed(ended)))
        })
        const text = yield* Effect.promise(() => readFile(report, "utf8").catch(() => `{"testResults":[]}`))
        const { testResults }: { readonly testResults: ReadonlyArray<Reported> } = JSON.parse(text)
        return judged(code, testResults)
      }),
    (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
  )
