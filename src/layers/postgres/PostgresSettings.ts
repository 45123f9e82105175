export type PostgresSettings = Readonly<Record<string, string | number | boolean>>

const durable: PostgresSettings = {
  max_connections: 100,
  shared_buffers: "128MB"
}

/** No disk guarantees. wal_level stays: minimal makes CREATE DATABASE slower. */
const throwaway: PostgresSettings = {
  max_connections: 400,
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  autovacuum: "off",
  jit: "off",
  checkpoint_timeout: "1d",
  max_wal_size: "1GB"
}

/** The caller's settings win, except where the server listens (127.0.0.1, no Unix socket). */
export const settingArguments = (options: {
  readonly port: number
  readonly throwaway: boolean
  readonly statStatements: boolean
  readonly settings: PostgresSettings
}): ReadonlyArray<string> => {
  const all: PostgresSettings = {
    ...durable,
    ...(options.throwaway ? throwaway : {}),
    ...(options.statStatements ? { shared_preload_libraries: "pg_stat_statements" } : {}),
    ...options.settings,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    port: options.port,
    logging_collector: "off",
    log_destination: "stderr"
  }
  return Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${String(value)}`])
}
