import { Redacted } from "effect"
import { readFileSync } from "node:fs"
import type { ConnectionOptions } from "node:tls"

/** What stands in `DATABASE_URL` beside the address and cannot be used. */
export class UnusableParameter extends Error {
  override readonly name = "UnusableParameter"
}

/** Parameters that the driver takes from the address itself. */
const ofTheDriver = ["host", "port", "user", "password", "dbname", "application_name", "options", "connect_timeout"]
const ofTls = ["ssl", "sslmode", "sslrootcert", "sslcert", "sslkey"]

/** What `ssl` of other drivers means in the words of PostgreSQL's own. */
const modeOfSsl: Readonly<Record<string, string>> = { true: "require", 1: "require", false: "disable", 0: "disable" }
const modes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]

const refuse = (name: string, value: string, allowed: string): never => {
  throw new UnusableParameter(`DATABASE_URL with ${name}="${value}" is not allowed: expected ${allowed}.`)
}

const fileOf = (parameters: URLSearchParams, name: string): Buffer | undefined => {
  const path = parameters.get(name)
  if (path === null) return undefined
  try {
    return readFileSync(path)
  } catch (error) {
    return refuse(name, path, `a file that can be read (${String(error)})`)
  }
}

const modeOf = (parameters: URLSearchParams): string | undefined => {
  const ssl = parameters.get("ssl")
  const meant = ssl === null ? undefined : modeOfSsl[ssl] ?? refuse("ssl", ssl, "true or false")
  const mode = parameters.get("sslmode") ?? meant
  return mode === undefined || modes.includes(mode) ? mode : refuse("sslmode", mode, modes.join(", "))
}

/** Files that say whom to trust, and who this client is. */
const filesOf = (parameters: URLSearchParams): ConnectionOptions => {
  const ca = parameters.get("sslrootcert") === "system" ? undefined : fileOf(parameters, "sslrootcert")
  const cert = fileOf(parameters, "sslcert")
  const key = fileOf(parameters, "sslkey")
  return { ...ca && { ca }, ...cert && { cert }, ...key && { key } }
}

/**
 * How connections to this address are encrypted; undefined leaves it to the driver: not at all, or with `prefer` and
 * `allow` where the server can. Whatever asks for encryption checks the server's certificate, and all but `verify-ca` also
 * that it is for this host: encryption to nobody knows whom protects from nobody. Throws `UnusableParameter` for what
 * would be left out silently.
 */
const tlsOf = (address: string): ConnectionOptions | boolean | undefined => {
  const { searchParams } = new URL(address)
  for (const [name, value] of searchParams) {
    if (![...ofTheDriver, ...ofTls].includes(name)) {
      refuse(name, value, `none but ${[...ofTheDriver, ...ofTls].join(", ")}`)
    }
  }
  const mode = modeOf(searchParams)
  const files = filesOf(searchParams)
  if (mode === "disable") return false
  const isOptional = mode === undefined || mode === "allow" || mode === "prefer"
  // A file that says whom to trust asks for a check, which a server without encryption would pass by.
  if (isOptional) return Object.keys(files).length === 0 ? undefined : files
  return mode === "verify-ca"
    ? { ...files, checkServerIdentity: () => undefined }
    : { rejectUnauthorized: true, ...files }
}

/** Checks what an address asks for beside the address. */
export const checkTls = (address: string): string | undefined => {
  try {
    tlsOf(address)
    return undefined
  } catch (error) {
    if (error instanceof UnusableParameter) return error.message
    throw error
  }
}

/** The address of a database, and how connections to it are encrypted: what every client of it is made with. */
export const connectingTo = (url: Redacted.Redacted<string>) => ({ url, ssl: tlsOf(Redacted.value(url)) })
