import type { Client } from "pg"

/** A statement as PostgreSQL counted it. */
export interface StatementUse {
  readonly text: string
  readonly calls: number
  readonly meanMs: number
}

/** What one database did in a window. */
export interface DatabaseUse {
  readonly statements: ReadonlyArray<StatementUse>
  /** Transactions that wrote something, so waited for the disk; reads commit nothing. */
  readonly writes: number
  /** Kilobytes of write-ahead log. */
  readonly walKb: number
}

interface Marks {
  readonly xid: number
  readonly lsn: string
}

const marks = async (client: Client): Promise<Marks> => {
  const { rows } = await client.query<{ xid: string; lsn: string }>(
    "select pg_snapshot_xmax(pg_current_snapshot())::text as xid, pg_current_wal_insert_lsn()::text as lsn"
  )
  return { xid: Number(rows[0]?.xid ?? 0), lsn: rows[0]?.lsn ?? "0/0" }
}

/**
 * Starts a window over a database and gives what ends it. Write transactions come from the counter of transaction ids,
 * which is exact at once, where `pg_stat_database` is up to ten seconds late; it counts the whole cluster, so
 * nothing else may write meanwhile.
 */
export const databaseWindow = async (client: Client, database: string): Promise<() => Promise<DatabaseUse>> => {
  await client.query("select pg_stat_statements_reset()")
  const before = await marks(client)
  return async () => {
    const after = await marks(client)
    const { rows } = await client.query<{ query: string; calls: string; mean: number }>(
      `select s.query, sum(s.calls)::text as calls, sum(s.total_exec_time) / greatest(sum(s.calls), 1) as mean
       from pg_stat_statements s join pg_database d on d.oid = s.dbid
       where d.datname = $1 group by 1 order by sum(s.calls) desc, 1`,
      [database]
    )
    const wal = await client.query<{ bytes: string }>("select pg_wal_lsn_diff($1, $2)::text as bytes", [
      after.lsn,
      before.lsn
    ])
    return {
      statements: rows.map((row) => ({
        text: row.query.replaceAll(/\s+/g, " ").trim(),
        calls: Number(row.calls),
        meanMs: row.mean
      })),
      writes: after.xid - before.xid,
      walKb: Number(wal.rows[0]?.bytes ?? 0) / 1024
    }
  }
}

const ofCluster = /cluster_|pg_locks|advisory/
const ofTransaction = /^(begin|commit|rollback|savepoint|release)/i

/** Who a statement is from: the service's own work, the cluster's bookkeeping, or the frame of a transaction. */
export const applicationOf = (text: string): "service" | "cluster" | "transaction" =>
  ofCluster.test(text) ? "cluster" : ofTransaction.test(text) ? "transaction" : "service"

/** Calls by application. */
export const callsBy = (statements: ReadonlyArray<StatementUse>) => {
  const calls = { service: 0, cluster: 0, transaction: 0 }
  for (const statement of statements) calls[applicationOf(statement.text)] += statement.calls
  return calls
}
