import { setTimeout as pause } from "node:timers/promises"
import { freePort } from "../FreePort.ts"
import { EmbeddedPgError } from "./EmbeddedPgError.ts"
import { type PostgresBinaries, program } from "./PostgresBinaries.ts"
import { dataOf } from "./PostgresCluster.ts"
import type { Account } from "./PostgresCommand.ts"
import { type ServerProcess, startServer, untilReady } from "./PostgresProcess.ts"
import { type PostgresSettings, settingArguments } from "./PostgresSettings.ts"

const portTaken = /could not bind IPv4 address|could not create any TCP\/IP sockets/
const memoryInUse = /pre-existing shared memory block/
const damaged = new RegExp([
  "could not locate a valid checkpoint record",
  "invalid checkpoint record",
  "database files are incompatible with server",
  "incorrect checksum in control file",
  "could not find the database system",
  "could not read file \"global/pg_control\": read"
].join("|"))

export interface StartOptions {
  readonly directory: string
  readonly binaries: PostgresBinaries
  readonly account: Account | undefined
  readonly port: number | undefined
  readonly previousPort: number | undefined
  readonly throwaway: boolean
  readonly settings: PostgresSettings
  readonly timeoutMs: number
}

const failed = (options: StartOptions, log: string): EmbeddedPgError => {
  const data = dataOf(options.directory)
  if (damaged.test(log)) {
    return new EmbeddedPgError(
      "Corrupt",
      `The files in ${data} are damaged, so PostgreSQL cannot start on them. Nothing was deleted. Restore them from a ` +
        `backup, or move the directory away to start with an empty database.`,
      log
    )
  }
  if (log.includes("initialized by PostgreSQL version")) {
    return new EmbeddedPgError("VersionMismatch", `${data} was made by another version of PostgreSQL.`, log)
  }
  return new EmbeddedPgError("StartFailed", `PostgreSQL ended while it started on ${data}.`, log)
}

const tryPort = async (options: StartOptions, port: number, deadline: number) => {
  const data = dataOf(options.directory)
  const { statStatements } = options.binaries
  const server = await startServer({
    file: program(options.binaries.bin, "postgres"),
    args: ["-D", data, ...settingArguments({ ...options, port, statStatements })],
    account: options.account,
    directory: options.directory
  })
  const state = await untilReady(server, data, deadline)
  if (state === "ready") return server
  await server.stop()
  const log = await server.output()
  if (state === "timeout") {
    throw new EmbeddedPgError("Timeout", `PostgreSQL was not ready on ${data} within ${options.timeoutMs} ms.`, log)
  }
  return log
}

/**
 * Starts on the fixed port, else the previous one, else a free one (5 tries); a taken fixed port fails with PortInUse.
 * Repeats while backends of a killed server hold the shared memory.
 */
export const startOnPort = async (options: StartOptions): Promise<{ server: ServerProcess; port: number }> => {
  const deadline = Date.now() + options.timeoutMs
  let previousPort = options.previousPort
  for (let attempt = 1;;) {
    const port = options.port ?? previousPort ?? await freePort()
    const result = await tryPort(options, port, deadline)
    if (typeof result !== "string") return { server: result, port }
    if (memoryInUse.test(result) && Date.now() < deadline) {
      await pause(100)
      continue
    }
    if (!portTaken.test(result)) throw failed(options, result)
    if (options.port !== undefined || attempt === 5) {
      throw new EmbeddedPgError("PortInUse", `Port ${port} of 127.0.0.1 is used by another program.`, result)
    }
    previousPort = undefined
    attempt++
  }
}
