import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Link, linkAfter } from "./Chain.ts"

/** What a walk along an organization's chain found. `broken` says of the first link that does not hold what is wrong. */
export interface ChainReport {
  readonly organizationId: string
  /** Entries that were looked at. */
  readonly entries: number
  /** Where the chain ends, as its head says. */
  readonly end: Link
  readonly broken: string | null
}

/** Looks whether the journal is what was written. */
export class JournalCheckRepo extends Context.Service<JournalCheckRepo, {
  /** Computes the chains of all organizations anew, from where they begin since the last purge. */
  readonly verify: Effect.Effect<ReadonlyArray<ChainReport>>
}>()("stoa/domain/events/JournalCheckRepo") {}

interface HeadRow {
  readonly organization_id: string
  readonly position: bigint
  readonly hash: string
  readonly event_sequence: bigint
  readonly purged_position: bigint
  readonly purged_hash: string
  readonly purged_sequence: bigint
}

interface EntryRow {
  readonly id: string
  readonly position: bigint
  readonly hash: string
  readonly digest: string
  readonly event_sequence: bigint | null
  /** Nothing was redacted, or the entry of the redaction says that this is what was left. */
  readonly vouched: boolean
}

/** Entries that are read at a time. */
const pageSize = 1000

/** Why the entry cannot be the one behind this link; null when it is. */
const flawOf = (before: Link, row: EntryRow): string | null => {
  const expected = before.position + 1
  if (Number(row.position) !== expected) return `position ${expected} is missing`
  const at = `position ${expected} (entry ${row.id})`
  if (row.event_sequence !== null && Number(row.event_sequence) !== before.sequence + 1) {
    return `${at} has event sequence ${row.event_sequence} where ${before.sequence + 1} is next`
  }
  if (!row.vouched) return `${at} is not what its redaction left`
  const link = linkAfter(before, row.digest, row.event_sequence !== null)
  return link.hash === row.hash ? null : `${at} is not what was written`
}

const flawOfEnd = (last: Link, end: Link): string | null => {
  if (last.position !== end.position) {
    return `position ${last.position + 1} is missing: the chain ends at ${end.position}`
  }
  return last.hash === end.hash && last.sequence === end.sequence ? null : "the head is not the end of the chain"
}

/** `JournalCheckRepo` over the database of the process. */
export const journalCheckRepoLayer = Layer.effect(
  JournalCheckRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const page = (organization: string, after: number) =>
      sql<EntryRow>`select id, position, encode(hash, 'hex') as hash, encode(journal_written(e), 'hex') as digest,
          event_sequence, e.redacted_by is null or exists (select 1 from journal_entries r
            where r.id = e.redacted_by and r.organization_id = e.organization_id and r.type = 'customers.erase'
              and r.payload->'redacted' ? (e.id || ':' || encode(journal_digest(e), 'hex'))) as vouched
        from journal_entries e where organization_id = ${organization} and position > ${after}::bigint
        order by position limit ${pageSize}`

    const walk = Effect.fnUntraced(function*(head: HeadRow) {
      const organizationId = head.organization_id
      const end = { position: Number(head.position), hash: head.hash, sequence: Number(head.event_sequence) }
      let last: Link = {
        position: Number(head.purged_position),
        hash: head.purged_hash,
        sequence: Number(head.purged_sequence)
      }
      const report = (broken: string | null): ChainReport => ({
        organizationId,
        entries: last.position - Number(head.purged_position),
        end,
        broken
      })
      for (;;) {
        const rows = yield* page(organizationId, last.position)
        if (rows.length === 0) return report(flawOfEnd(last, end))
        for (const row of rows) {
          const flaw = flawOf(last, row)
          if (flaw !== null) return report(flaw)
          last = linkAfter(last, row.digest, row.event_sequence !== null)
        }
      }
    })

    const verify = sql.withTransaction(Effect.gen(function*() {
      // One snapshot for all: what the relay adds and the purge takes meanwhile is not seen.
      yield* sql`set transaction isolation level repeatable read, read only`
      const heads = yield* sql<HeadRow>`select organization_id, position, encode(hash, 'hex') as hash, event_sequence,
          purged_position, encode(purged_hash, 'hex') as purged_hash, purged_sequence
        from journal_heads order by organization_id`
      // An entry with a place and no head at all: somebody took the head away.
      const headless = yield* sql<{ readonly organization_id: string }>`select distinct organization_id
        from journal_entries e where position is not null
          and not exists (select 1 from journal_heads h where h.organization_id = e.organization_id)`
      const reports = yield* Effect.forEach(heads, walk)
      const missing = headless.map(({ organization_id }): ChainReport => ({
        organizationId: organization_id,
        entries: 0,
        end: { position: 0, hash: "", sequence: 0 },
        broken: "the head of the chain is missing"
      }))
      return [...reports, ...missing]
    })).pipe(Effect.orDie, Effect.withSpan("JournalCheckRepo.verify"))

    return JournalCheckRepo.of({ verify })
  })
)
