import { Clock, Context, Duration, Effect, Layer } from "effect"
import { MachineId, Snowflake } from "effect/cluster"
import { SqlClient } from "effect/sql"

export interface CleanUpOptions {
  readonly window: Duration.Input
  readonly batch?: number | undefined
  readonly maxBatches?: number | undefined
}

type Kind = "steps" | "rest"

const parentKey = "~effect/cluster/ClusterWorkflowEngine/payloadParentKey"

/**
 * Deletes requests answered before the window, with replies, acknowledgements and interrupts, in batches by primary
 * key; Effect never does.
 * Kept at any age: unanswered requests, rows of open or suspended executions, the run of a child whose parent is open.
 * Requests to entities are deleted even if their workflow is open: the window must be longer than such workflows.
 */
export class ClusterRetention extends Context.Service<ClusterRetention>()("stoa/layers/cluster/ClusterRetention", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    // Open: the `run` is unanswered, answered lately, or suspended, which counts as processed and may wait for months.
    // Keys are over the unique index.
    const isOpen = (key: ReturnType<typeof sql.literal>, cut: string) =>
      sql`exists (
        select 1 from cluster_messages run left join cluster_replies answer on answer.id = run.last_reply_id
        where run.message_id = case when length(${key}) <= 255 then ${key}
            else encode(sha256(convert_to(${key}, 'UTF8')), 'hex') end
          and (not run.processed or run.id >= ${cut}::text::bigint or run.last_reply_id >= ${cut}::text::bigint
            or answer.payload::jsonb -> 'value' ->> '_tag' = 'Suspended')
      )`
    const isWorkflow = sql.literal("(m.entity_type like 'Workflow/%' and m.entity_type <> 'Workflow/-/DurableClock')")
    const ownRun = sql.literal("(m.entity_type || '/' || m.entity_id || '/run/')")
    const parent = `(m.payload::jsonb -> '${parentKey}')`
    const parentRun = sql.literal(
      `('Workflow/' || (${parent} ->> 'workflowName') || '/' || (${parent} ->> 'executionId') || '/run/')`
    )
    // Steps before their run: else a new run under the same key finds old steps. A child's run stays while its parent
    // may replay it.
    const spent = (kind: Kind, cut: string) =>
      kind === "steps"
        ? sql`${isWorkflow} and m.tag <> 'run' and not ${isOpen(ownRun, cut)}`
        : sql`(not ${isWorkflow} or (m.tag = 'run' and not ${isOpen(ownRun, cut)} and not ${isOpen(parentRun, cut)}))`

    const removeBatch = (kind: Kind, cut: string, after: string, batch: number) =>
      sql`
        with spent as (
          select m.id from cluster_messages m
          where m.id < ${cut}::text::bigint and m.id > ${after}::text::bigint and m.kind = 0 and m.processed
            and (m.last_reply_id is null or m.last_reply_id < ${cut}::text::bigint)
            and ${spent(kind, cut)}
          order by m.id limit ${String(batch)}::text::bigint
          for update of m skip locked
        ), replies as (
          delete from cluster_replies r using spent where r.request_id = spent.id returning 1
        ), messages as (
          delete from cluster_messages m using spent where m.request_id = spent.id returning 1
        )
        select (select count(*) from spent) as requests, (select max(id) from spent) as last,
          (select count(*) from messages) as messages, (select count(*) from replies) as replies`

    /** Counts the deleted; `more` if the run stopped at its limit. */
    const purge = Effect.fn("ClusterRetention.purge")(function*(options: CleanUpOptions) {
      const batch = options.batch ?? 500
      const timestamp = (yield* Clock.currentTimeMillis) - Duration.toMillis(options.window)
      // Ids carry their time: the primary key is the index by age.
      const cut = String(Snowflake.make({ machineId: MachineId.make(0), sequence: 0, timestamp }))
      let left = options.maxBatches ?? 100
      let messages = 0
      let replies = 0
      for (const kind of ["steps", "rest"] as const) {
        let after = String(-(2n ** 63n))
        let full = true
        while (full && left-- > 0) {
          const [removed] = yield* removeBatch(kind, cut, after, batch)
          messages += Number(removed?.["messages"] ?? 0)
          replies += Number(removed?.["replies"] ?? 0)
          after = String(removed?.["last"] ?? after)
          full = Number(removed?.["requests"] ?? 0) === batch
        }
        if (full) return { messages, replies, more: true }
      }
      return { messages, replies, more: false }
    })
    return { purge }
  })
}) {
  static readonly layer = Layer.effect(ClusterRetention, ClusterRetention.make)
}
