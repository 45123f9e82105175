import { readFile, stat } from "node:fs/promises"
import { variable } from "../config/PostgresEnvironment.ts"
import { EmbeddedPgError } from "./EmbeddedPgError.ts"
import { type Account, runCommand } from "./PostgresCommand.ts"

const usual = ["postgres", "node", "nobody"]

export const isRoot = (): boolean => process.getuid?.() === 0

const accounts = async (): Promise<ReadonlyArray<Account>> => {
  const text = await readFile("/etc/passwd", "utf8").catch(() => "")
  return text.split("\n").flatMap((line) => {
    const [name = "", , uid = "", gid = ""] = line.split(":")
    return name === "" || uid === "" ? [] : [{ name, uid: Number(uid), gid: Number(gid) }]
  })
}

const ofDataDirectory = async (known: ReadonlyArray<Account>, data: string): Promise<Account | undefined> => {
  const found = await stat(data).catch(() => undefined)
  if (found === undefined) return undefined
  if (found.uid === 0) {
    throw new EmbeddedPgError(
      "NoUser",
      `The data directory ${data} belongs to root, and PostgreSQL refuses to run as root. ` +
        `Give it to an unprivileged account: chown -R postgres ${data}`
    )
  }
  const owner = known.find((account) => account.uid === found.uid)
  if (owner !== undefined) return { ...owner, gid: found.gid }
  throw new EmbeddedPgError(
    "NoUser",
    `The data directory ${data} belongs to the user id ${found.uid}, which has no entry in /etc/passwd; ` +
      `PostgreSQL needs one.`
  )
}

/**
 * None unless the launcher is root. Data keeps its owner; new data gets EMBEDDED_PG_USER, else `postgres`, `node` or
 * `nobody`. Fails with NoUser.
 */
export const chooseAccount = async (data: string): Promise<Account | undefined> => {
  if (!isRoot()) return undefined
  const known = await accounts()
  const owner = await ofDataDirectory(known, data)
  if (owner !== undefined) return owner
  const wanted = variable("EMBEDDED_PG_USER")
  const names = wanted === undefined ? usual : [wanted]
  for (const name of names) {
    const account = known.find((entry) => entry.name === name && entry.uid !== 0)
    if (account !== undefined) return account
  }
  throw new EmbeddedPgError(
    "NoUser",
    `PostgreSQL refuses to run as root and none of these accounts exists: ${names.join(", ")}. ` +
      `Name an unprivileged account in EMBEDDED_PG_USER, start as another user, or set DATABASE_URL.`
  )
}

export const requireReachable = async (account: Account | undefined, directory: string): Promise<void> => {
  if (account === undefined) return
  const result = await runCommand("/bin/sh", ["-c", "cd \"$1\"", "sh", directory], { account, timeoutMs: 10_000 })
  if (result.code === 0) return
  throw new EmbeddedPgError(
    "NoUser",
    result.failure === ""
      ? `The account ${account.name} cannot enter ${directory}, so PostgreSQL cannot keep its data there. ` +
        `Choose a directory all of whose parents are open to it (as root: /var/lib/stoa/postgres), ` +
        `start as another user, or set DATABASE_URL.`
      : `Root could not become the account ${account.name} (${result.failure}); start as another user or set DATABASE_URL.`
  )
}
