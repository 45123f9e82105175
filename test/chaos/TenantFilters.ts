import { assert, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { spawn } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { startMutant } from "../support/Mutant.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { talkingTo } from "../support/Service.ts"
import { filtersIn } from "../support/TenantFilter.ts"
import { neighbours, ownAffairs } from "../tenancy/Neighbours.ts"

/*
 * Takes out every filter of organizations of every repository, one after the other, and looks whether a test sees it:
 * first what two stores see of each other over HTTP, then the tests of the repositories themselves. What nobody sees is
 * to be explained in docs/invariants.md. STOA_CHAOS_FILTERS=7/40 takes every 40th, beginning with the 7th.
 */

const [offset = 0, step = 1] = (process.env["STOA_CHAOS_FILTERS"] ?? "0/1").split("/").map(Number)

const all = globSync("src/domain/**/*Repo.ts").sort().flatMap((file) =>
  Array.from({ length: filtersIn(readFileSync(file, "utf8")) }, (_, n) => `${file}#${n}`)
)

const mutants = all.filter((_, index) => index % step === offset % step)

/** Another filter says the same (docs/invariants.md); whoever walks through all of them adds what he finds and explains. */
const redundant = ["src/domain/access/ApiKeyRepo.ts#3"]

/** Whether the test of two stores fails; a service that does not start, or a store that cannot be made, fails too. */
const seenOverHttp = (mutant: string) =>
  Effect.gen(function*() {
    const { url } = yield* freshDatabase
    const service = yield* startMutant(mutant, url)
    const outcome = yield* Effect.exit(Effect.provide(
      Effect.gen(function*() {
        const { leaks, theirs } = yield* neighbours
        return [...leaks, ...(yield* ownAffairs(theirs))]
      }),
      talkingTo(service, url)
    ))
    return !Exit.isSuccess(outcome) || outcome.value.length > 0
  }).pipe(Effect.scoped)

/** Whether the tests of tenants and of the module itself fail with it. */
const seenInside = (mutant: string) =>
  Effect.callback<boolean>((resume) => {
    const [, module = ""] = /^src\/domain\/(\w+)\//.exec(mutant) ?? []
    const args = ["vitest", "run", "-c", "vitest.mutant.config.ts", "test/tenancy/Twin", `test/${module}/`]
    const child = spawn("npx", args, { env: { ...process.env, STOA_MUTANT: mutant }, stdio: "ignore" })
    child.on("close", (code) => resume(Effect.succeed(code !== 0)))
  })

it.live(`taking out each of ${mutants.length} filters of organizations shows`, () =>
  Effect.gen(function*() {
    assert.isAbove(all.length, 200)
    assert.isFalse(yield* seenOverHttp(""), "the test fails without any change")
    const unseen: Array<string> = []
    for (const mutant of mutants) {
      const where = (yield* seenOverHttp(mutant)) ? "over HTTP" : (yield* seenInside(mutant)) ? "inside" : "nowhere"
      yield* Effect.logInfo(`${mutant}: ${where}`)
      if (where === "nowhere" && !redundant.includes(mutant)) unseen.push(mutant)
    }
    assert.deepStrictEqual(unseen, [])
  }))
