import { cpus, release, totalmem } from "node:os"
import type { Client } from "pg"

const settings = [
  "fsync",
  "synchronous_commit",
  "full_page_writes",
  "wal_level",
  "wal_sync_method",
  "shared_buffers",
  "max_connections",
  "jit",
  "plan_cache_mode",
  "autovacuum",
  "pg_stat_statements.track",
  "pg_stat_statements.track_planning"
]

/** The machine, and with a client also PostgreSQL and the settings that decide its speed. */
export const environment = async (client?: Client): Promise<Readonly<Record<string, string>>> => {
  const processors = cpus()
  const machine = {
    cpu: processors[0]?.model.trim() ?? "unknown",
    cores: String(processors.length),
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    system: `${process.platform} ${release()}`,
    node: process.version
  }
  if (client === undefined) return machine
  const { rows } = await client.query<{ name: string; setting: string }>(
    `select 'postgres' as name, current_setting('server_version') as setting
     union all select name, current_setting(name) from pg_settings where name = any($1)`,
    [settings]
  )
  return { ...machine, ...Object.fromEntries(rows.map(({ name, setting }) => [name, setting])) }
}
