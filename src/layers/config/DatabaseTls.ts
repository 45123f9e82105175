import { Redacted } from "effect"
import { readFileSync } from "node:fs"
import type { ConnectionOptions } from "node:tls"
import * as is from "./Rules.ts"
import { type Problems } from "./Settings.ts"

export const databaseUrl = is.secret(
  "postgres://user:password@host:port/database",
  (url) => /^postgres(ql)?:$/.test(URL.parse(url)?.protocol ?? "")
)

const ofDriver = ["host", "port", "user", "password", "dbname", "application_name", "options", "connect_timeout"]
const parameters = [...ofDriver, "ssl", "sslmode", "sslrootcert", "sslcert", "sslkey"]

const modeOfSsl: Readonly<Record<string, string>> = { true: "require", 1: "require", false: "disable", 0: "disable" }
const modes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]

type Refuse = (parameter: string, value: string, expected: string) => void

/**
 * Encryption to this address. Undefined leaves it to the driver: none, or with `prefer` and `allow` if the server can.
 * Other modes but `disable` check the certificate, and all but `verify-ca` its host. Parameters without effect are
 * refused.
 */
const tlsOf = (address: string, refuse: Refuse): ConnectionOptions | boolean | undefined => {
  const { searchParams: search } = new URL(address)
  for (const [name, value] of search) {
    if (!parameters.includes(name)) refuse(name, value, `none but ${parameters.join(", ")}`)
  }
  const ssl = search.get("ssl")
  if (ssl !== null && modeOfSsl[ssl] === undefined) refuse("ssl", ssl, "true or false")
  const mode = search.get("sslmode") ?? modeOfSsl[ssl ?? ""]
  if (mode !== undefined && !modes.includes(mode)) refuse("sslmode", mode, modes.join(", "))
  const read = (option: string, name: string) => {
    const path = search.get(name)
    if (path === null || path === "system") return {}
    try {
      return { [option]: readFileSync(path) }
    } catch (error) {
      refuse(name, path, `a file that can be read (${String(error)})`)
      return {}
    }
  }
  const files: ConnectionOptions = {
    ...read("ca", "sslrootcert"),
    ...read("cert", "sslcert"),
    ...read("key", "sslkey")
  }
  if (mode === "disable") return false
  if (mode === undefined || mode === "allow" || mode === "prefer") {
    return Object.keys(files).length === 0 ? undefined : files
  }
  return mode === "verify-ca"
    ? { ...files, checkServerIdentity: () => undefined }
    : { rejectUnauthorized: true, ...files }
}

export const checkTls = (url: Redacted.Redacted<string>, { refuse }: Problems): void =>
  void tlsOf(Redacted.value(url), (parameter, ...rest) => refuse(`DATABASE_URL with ${parameter}`, ...rest))

/** A starting process reads late. */
const connectTimeout = "10 seconds"

export const connectingTo = (url: Redacted.Redacted<string>) => ({
  url,
  ssl: tlsOf(Redacted.value(url), () => {}),
  ...(new URL(Redacted.value(url)).searchParams.has("connect_timeout") ? {} : { connectTimeout } as const)
})
