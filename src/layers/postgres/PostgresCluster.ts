import { randomBytes } from "node:crypto"
import { chmod, chown, mkdir, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { EmbeddedPgError, systemCode } from "./EmbeddedPgError.ts"
import { isRoot, requireReachable } from "./PostgresAccount.ts"
import { program } from "./PostgresBinaries.ts"
import { type Account, runCommand } from "./PostgresCommand.ts"

export interface Credentials {
  readonly user: string
  readonly password: string
  readonly port?: number
}

const ours = /^(credentials\.json|password|start\.lock|postgres\.log|data\.new)/

export const dataOf = (directory: string): string => join(directory, "data")

const entriesOf = (directory: string): Promise<ReadonlyArray<string>> =>
  readdir(directory).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return []
    throw new EmbeddedPgError("StartFailed", `${directory} cannot be read (${systemCode(error)}).`)
  })

/** Undefined without a cluster. Fails with Corrupt, and changes nothing, when something else is there. */
export const clusterVersion = async (directory: string): Promise<number | undefined> => {
  const inside = await entriesOf(dataOf(directory))
  if (inside.length > 0) {
    const text = await readFile(join(dataOf(directory), "PG_VERSION"), "utf8").catch(() => undefined)
    const major = Number.parseInt(text ?? "", 10)
    if (Number.isSafeInteger(major) && major > 0) return major
    throw new EmbeddedPgError(
      "Corrupt",
      `${dataOf(directory)} is not empty but holds no ${
        text === undefined ? "" : "valid "
      }PG_VERSION, so it is not a ` +
        `complete PostgreSQL data directory. Nothing was changed. Restore it, move it away, or choose another directory.`
    )
  }
  const foreign = (await entriesOf(directory)).filter((name) => name !== "data" && !ours.test(name))
  if (foreign.length === 0) return undefined
  throw new EmbeddedPgError(
    "Corrupt",
    `${directory} holds other files (${foreign.slice(0, 5).join(", ")}) and no PostgreSQL data directory. ` +
      `Nothing was changed. Choose an empty or a new directory.`
  )
}

/**
 * Root keeps the directory, so the server's account cannot plant links there, but may pass through. Fails with NoUser.
 */
export const prepareDirectory = async (directory: string, account: Account | undefined): Promise<void> => {
  const first = await mkdir(directory, { recursive: true, mode: account === undefined ? 0o700 : 0o755 })
  if (account !== undefined && first !== undefined) {
    for (let made = directory; made.length >= first.length; made = dirname(made)) await chmod(made, 0o755)
  } else if (isRoot() && (await readdir(directory)).length === 0) await chmod(directory, 0o755)
  await requireReachable(account, directory)
}

export const writeCredentials = async (directory: string, credentials: Credentials): Promise<void> => {
  const file = join(directory, "credentials.json")
  await writeFile(`${file}.new`, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 })
  await chmod(`${file}.new`, 0o600)
  await rename(`${file}.new`, file)
}

/** Fails with Corrupt when they are gone or damaged. */
export const readCredentials = async (directory: string): Promise<Credentials> => {
  const file = join(directory, "credentials.json")
  const text = await readFile(file, "utf8").catch(() => "")
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = undefined
  }
  if (
    typeof value === "object" && value !== null && "user" in value && typeof value.user === "string" &&
    "password" in value && typeof value.password === "string"
  ) {
    const port = "port" in value && typeof value.port === "number" ? value.port : undefined
    return { user: value.user, password: value.password, ...(port === undefined ? {} : { port }) }
  }
  throw new EmbeddedPgError(
    "Corrupt",
    `${file} is missing or damaged, so that no login to the cluster beside it is possible. Nothing was changed. Restore the ` +
      `file ({ "user": …, "password": … }) or choose another directory.`
  )
}

const runInitdb = async (options: InitOptions, target: string, passwordFile: string) => {
  const args = [
    "-D",
    target,
    "-U",
    "stoa",
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    "--locale=C",
    "-E",
    "UTF8"
  ]
  const result = await runCommand(program(options.bin, "initdb"), options.throwaway ? [...args, "--no-sync"] : args, {
    account: options.account,
    timeoutMs: options.timeoutMs
  })
  if (result.code === 0) return
  const ended = result.failure || (result.signal === null ? `exit ${result.code}` : `ended by ${result.signal}`)
  throw new EmbeddedPgError("InitFailed", `initdb could not make a cluster in ${target} (${ended}).`, result.output)
}

export interface InitOptions {
  readonly directory: string
  readonly bin: string
  readonly account: Account | undefined
  readonly throwaway: boolean
  readonly timeoutMs: number
}

const clearLeftovers = async (directory: string): Promise<void> => {
  const left = (await readdir(directory)).filter((name) => /^(data|password)\.new\./.test(name))
  await Promise.all(
    left.map((name) => rm(join(directory, name), { recursive: true, force: true }).catch(() => undefined))
  )
}

/**
 * Renames the complete cluster into place: a killed initdb leaves nothing half made. Each try uses other names, because
 * an initdb outlives its killed launcher. Fails with InitFailed.
 */
export const initCluster = async (options: InitOptions): Promise<void> => {
  const { account, directory } = options
  const unique = randomBytes(6).toString("hex")
  const target = join(directory, `data.new.${unique}`)
  const passwordFile = join(directory, `password.new.${unique}`)
  const password = randomBytes(24).toString("base64url")
  await clearLeftovers(directory)
  try {
    await mkdir(target, { mode: 0o700 })
    await writeFile(passwordFile, password, { mode: 0o600, flag: "wx" })
    if (account !== undefined) {
      await chown(target, account.uid, account.gid)
      await chown(passwordFile, account.uid, account.gid)
    }
    await runInitdb(options, target, passwordFile)
    await writeCredentials(directory, { user: "stoa", password })
    await rename(target, dataOf(directory))
    if (!options.throwaway && process.platform !== "win32") {
      const handle = await open(directory)
      await handle.sync().finally(() => handle.close())
    }
  } finally {
    await rm(passwordFile, { force: true })
    await rm(target, { recursive: true, force: true }).catch(() => undefined)
  }
}
