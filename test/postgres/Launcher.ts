import { PgClient } from "@effect/sql-pg"
import { assert, onTestFinished } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { rmSync } from "node:fs"
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { type EmbeddedPgCode, EmbeddedPgError } from "../../src/layers/postgres/EmbeddedPgError.ts"
import {
  type EmbeddedPostgresOptions,
  type EmbeddedPostgresServer,
  startPostgres
} from "../../src/layers/postgres/EmbeddedPostgres.ts"
import { parentOfDatabases } from "../support/Memory.ts"
import { waitFor } from "../support/waitFor.ts"

/** A server whose process was killed writes its last files before it ends. */
const serverEnded = async (directory: string) => {
  const file = await readFile(join(directory, "pg/data/postmaster.pid"), "utf8").catch(() => "")
  const stat = () => readFile(`/proc/${Number.parseInt(file)}/stat`, "utf8").catch(() => "")
  await waitFor("the server to end", async () => !/\(postgres\) [^Z]/.test(await stat()))
}

/** An empty directory every account may enter, removed when the test ends; for programs unless another place is named. */
export const temporaryDirectory = async (parent = tmpdir()): Promise<string> => {
  const directory = await mkdtemp(join(parent, "stoa-launcher-"))
  await chmod(directory, 0o755)
  onTestFinished(async () => {
    await serverEnded(directory)
    await rm(directory, { recursive: true, force: true })
  })
  return directory
}

/** Starts a server that is stopped when the test ends, with any outcome. */
export const start = async (options: EmbeddedPostgresOptions): Promise<EmbeddedPostgresServer> => {
  const server = await startPostgres(options)
  onTestFinished(() => server.stop())
  return server
}

let pristine: Promise<string> | undefined

const makePristine = async (): Promise<string> => {
  // Files of tests share the process. One that is killed leaves it behind, and the next run finds it by this name.
  const parent = await mkdtemp(join(await parentOfDatabases(), `stoa-test-${process.pid}-`))
  process.once("exit", () => rmSync(parent, { recursive: true, force: true }))
  await chmod(parent, 0o755)
  const dir = join(parent, "pg")
  const server = await startPostgres({ dir, settings: { fsync: "off" } })
  await server.stop()
  return dir
}

/** A cluster of the test's own with no server on it; made once per process and copied. */
export const stoppedCluster = async (): Promise<string> => {
  const source = await (pristine ??= makePristine())
  const dir = join(await temporaryDirectory(await parentOfDatabases()), "pg")
  await promisify(execFile)("cp", ["-a", source, dir])
  return dir
}

/** Runs one statement on a separate connection. */
export const query = <Row extends object>(url: string, statement: string): Promise<ReadonlyArray<Row>> =>
  SqlClient.SqlClient.pipe(
    Effect.flatMap((sql) => sql.unsafe<Row>(statement)),
    Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })),
    Effect.runPromise
  )

/** Expects the start to be refused with that code and gives the error. */
export const refusal = async (code: EmbeddedPgCode, options: EmbeddedPostgresOptions): Promise<EmbeddedPgError> => {
  const result = await startPostgres(options).catch((error: unknown) => error)
  if (!(result instanceof EmbeddedPgError)) {
    if (typeof result === "object" && result !== null && "stop" in result) {
      await (result as EmbeddedPostgresServer).stop() // started after all
    }
    return assert.fail(`expected ${code}, got ${String(result)}`)
  }
  assert.strictEqual(result.code, code, result.message)
  return result
}

/** A program that launches the server and then waits for ever: a parent that can be killed. */
export const launchInChild = (options: EmbeddedPostgresOptions): ChildProcess => {
  const program = fileURLToPath(new URL("./launchAndWait.ts", import.meta.url))
  const child = spawn(process.execPath, [program, JSON.stringify(options)], { stdio: ["pipe", "pipe", "inherit"] })
  onTestFinished(() => {
    child.kill("SIGKILL")
  })
  return child
}

/** What `launchInChild` reports once its server is ready. */
export const launched = async (child: ChildProcess): Promise<EmbeddedPostgresServer> => {
  let text = ""
  child.stdout?.on("data", (chunk: Buffer) => {
    text += chunk.toString()
  })
  await waitFor("the child's server", () => text.includes("\n"))
  return JSON.parse(text) as EmbeddedPostgresServer // written by launchAndWait.ts from that very type
}

/** A living process; one that ended but was not yet collected by its parent does not count. */
export const isRunning = async (pid: number): Promise<boolean> => {
  const status = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "")
  return status !== "" && !/\) Z /.test(status)
}

/** Programs that only pretend to be PostgreSQL; `body` is the shell text of each. */
export const pretendBinaries = async (
  body: { readonly postgres: string; readonly initdb: string }
): Promise<string> => {
  const bin = await temporaryDirectory()
  const version = "case \"$1\" in --version) echo \"postgres (PostgreSQL) 18.1\"; exit 0;; esac"
  for (const [name, text] of Object.entries(body)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${version}\n${text}\n`)
    await chmod(join(bin, name), 0o755)
  }
  return bin
}

/** Every file below the directory with a digest of its content, except those that a server writes about its run. */
export const snapshot = async (directory: string): Promise<ReadonlyMap<string, string>> => {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const ofRun = /^(postmaster\.(pid|opts)|postgres\.log|pg.*\.stat)$/
  const files = entries.filter((entry) => entry.isFile() && !ofRun.test(entry.name))
  const contents = await Promise.all(files.map(async (entry) => {
    const path = join(entry.parentPath, entry.name)
    return [path, createHash("sha1").update(await readFile(path)).digest("hex")] as const
  }))
  return new Map(contents)
}

/** Sets environment variables until the test ends. */
export const withEnvironment = (values: Readonly<Record<string, string>>): void => {
  for (const [name, value] of Object.entries(values)) {
    const before = process.env[name]
    process.env[name] = value
    onTestFinished(() => {
      if (before === undefined) delete process.env[name]
      else process.env[name] = before
    })
  }
}

export const makeDirectory = async (path: string, mode: number): Promise<string> => {
  await mkdir(path, { recursive: true })
  await chmod(path, mode)
  return path
}
