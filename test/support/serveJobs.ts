import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option, Redacted, Runtime } from "effect"
import { SqlClient } from "effect/sql"
import { defineTask, type TaskCall } from "../../src/domain/platform/tasks/Task.ts"
import { announce, processApp } from "../../src/layers/App.ts"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import { noterOf } from "./JobRunNotes.ts"

/** Connections for what handlers note, apart from the service's own, and to another server when a test says so. */
const notes = PgClient.layer({
  url: Redacted.make(process.env["STOA_TEST_NOTES_URL"] ?? process.env["DATABASE_URL"] ?? ""),
  maxConnections: 4,
  applicationName: noterOf(process.pid)
})

/** How long the runs of a key take on average, in ms. */
const exclusiveMs = Number(process.env["STOA_TEST_EXCLUSIVE_MS"] ?? 10)
const spread = () => exclusiveMs * (0.5 + Math.random())

/**
 * Notes when a run begins and when it ends or is given back, with any outcome; only one whose process is killed has no
 * end.
 */
const noting = (ms: () => number) => ({ input, job }: TaskCall) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [run] = yield* sql<{ id: string }>`insert into job_runs (job, key, pid)
        values (${job.id}, ${String(input["key"])}, ${process.pid}) returning id::text`
      const over = sql`update job_runs set ended = clock_timestamp() where id = ${run?.id ?? ""}::int8`
      yield* Effect.ensuring(restore(Effect.sleep(ms())), Effect.orDie(over))
      return { output: { pid: process.pid } }
    })
  )

const serve = Effect.gen(function*() {
  const context = yield* Layer.build(notes)
  const noted = (slug: string, ms: () => number) =>
    defineTask({
      slug,
      retries: { attempts: 1_000 },
      concurrency: { key: (input) => String(input["key"]), exclusive: slug === "test/exclusive" },
      handler: (call) => Effect.provideContext(Effect.orDie(noting(ms)(call)), context)
    })
  const tick = defineTask({ slug: "test/tick", schedule: "* * * * * *", handler: () => Effect.void })
  const poison = defineTask({
    slug: "test/poison",
    retries: { attempts: 3 },
    handler: (call) =>
      Effect.provideContext(
        Effect.andThen(
          Effect.orDie(noting(() => 0)(call)),
          Effect.sync(() => {
            process.kill(process.pid, "SIGKILL")
          })
        ),
        context
      )
  })
  const settings = yield* readSettings({
    tasks: [noted("test/exclusive", spread), noted("test/slow", () => 2_000), tick, poison],
    jobs: { autorun: { intervalMs: 1_000 }, leaseMs: 15_000, reapIntervalMs: 1_000 }
  })
  return yield* Layer.launch(
    Layer.effectDiscard(announce).pipe(
      Layer.provideMerge(
        processApp({
          ...settings,
          role: "runner",
          databaseUrl: Option.some(Redacted.make(process.env["DATABASE_URL"] ?? ""))
        })
      )
    )
  )
})

NodeRuntime.runMain(Effect.scoped(serve), {
  teardown: (exit, onExit) => Runtime.defaultTeardown(exit, (code) => onExit(code === 130 ? 0 : code))
})
