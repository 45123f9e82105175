import { isIP } from "node:net"
import type { Environment, Problems } from "./Settings.ts"

export type ProcessRole = "all" | "api" | "runner"

interface Listening {
  readonly environment: Environment
  readonly host: string
  readonly role: ProcessRole
  readonly runnerHost: string
  readonly runnerAddressSet: boolean
}

/** True if other processes reach this one's actors. */
export const hasPeers = ({ role, runnerAddressSet }: Pick<Listening, "role" | "runnerAddressSet">): boolean =>
  role === "runner" || (role === "all" && runnerAddressSet)

export const isLoopback = (host: string): boolean => {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, "$1")
  return name === "localhost" || name === "::1" || (isIP(name) === 4 && name.startsWith("127."))
}

const openInDevelopment = (settings: Listening): ReadonlyArray<readonly [variable: string, host: string]> => {
  const own = [["HOST", settings.host]] as const
  const all = hasPeers(settings) ? [...own, ["STOA_RUNNER_HOST", settings.runnerHost] as const] : own
  return settings.environment === "production" ? [] : all.filter(([, host]) => !isLoopback(host))
}

/** True if a network reaches test payments or requests to internal addresses. */
export const isDevelopmentOnNetwork = (settings: Listening): boolean => openInDevelopment(settings).length > 0

/** A forgotten `NODE_ENV` must not open a shop to its network. */
export const checkNetwork = (settings: Listening, isAllowed: boolean, problems: Problems): void => {
  const [open] = openInDevelopment(settings)
  if (isAllowed || open === undefined) return
  problems.refuse(
    ...open,
    `NODE_ENV=production, or an address of this machine alone (127.0.0.1). NODE_ENV is ${settings.environment}, where ` +
      "test payments pay; STOA_ALLOW_DEVELOPMENT_ON_NETWORK=true lets it listen there all the same"
  )
}
