import { Effect, Schema } from "effect"
import { FetchHttpClient, HttpClient, HttpClientResponse } from "effect/http"
import { createServer, isIPv6 } from "node:net"
import type { AppSettings } from "../config/AppConfig.ts"
import { hasPeers } from "../config/NetworkConfig.ts"
import { type Finding, refuseWrong, well, wrong } from "./Finding.ts"

export type Addresses = Pick<
  AppSettings,
  "host" | "port" | "role" | "runnerAddressSet" | "runnerHost" | "runnerPort"
>

interface Port {
  readonly hostName: string
  readonly host: string
  readonly portName: string
  readonly port: number
}

const obstacle = ({ host, port }: Port) =>
  Effect.callback<string | undefined>((resume) => {
    const server = createServer()
    server.once("error", (error: NodeJS.ErrnoException) => resume(Effect.succeed(error.code ?? error.message)))
    server.listen(port, host, () => server.close(() => resume(Effect.succeed(undefined))))
  })

const explained = ({ host, hostName, port, portName }: Port, code: string): Finding => {
  const place = `${portName} ${host}:${port}`
  switch (code) {
    case "EADDRINUSE":
      return wrong(`${place} is taken`, `end the program that uses it, or set ${portName}`)
    case "EACCES":
      return wrong(`${place} is not for this user`, `set ${portName} to 1024 or above`)
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return wrong(`${hostName} ${host} is unknown`, `set ${hostName} to an address of this machine`)
    case "EADDRNOTAVAIL":
      return wrong(`${hostName} ${host} is not an address of this machine`, `set ${hostName} to one, or to 0.0.0.0`)
    default:
      return wrong(`${place} cannot be listened on (${code})`, `set ${hostName} and ${portName}`)
  }
}

const checkPort = (port: Port) =>
  Effect.map(obstacle(port), (code) => code === undefined ? well(free(port)) : explained(port, code))

const free = ({ host, port, portName }: Port): string =>
  port === 0 ? `${portName} is any free one on ${host}` : `${portName} ${host}:${port} is free`

const Alive = Schema.Struct({ status: Schema.Literal("ok"), version: Schema.String })

const versionOfRunning = ({ host, port }: Port) => {
  const reached = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "[::1]" : isIPv6(host) ? `[${host}]` : host
  return HttpClient.get(`http://${reached}:${port}/health/live`).pipe(
    Effect.flatMap(HttpClientResponse.schemaBodyJson(Alive)),
    Effect.timeout("2 seconds"),
    Effect.map(({ version }) => version),
    Effect.orElseSucceed(() => undefined),
    Effect.provide(FetchHttpClient.layer)
  )
}

const portsOf = (addresses: Addresses) => {
  const { host, port, runnerHost, runnerPort } = addresses
  const api = { hostName: "HOST", host, portName: "PORT", port }
  const runner = { hostName: "STOA_RUNNER_HOST", host: runnerHost, portName: "STOA_RUNNER_PORT", port: runnerPort }
  return { api, runner: hasPeers(addresses) ? runner : undefined }
}

export const checkPorts = Effect.fnUntraced(function*(addresses: Addresses) {
  const { api, runner } = portsOf(addresses)
  if (runner !== undefined && api.port !== 0 && api.port === runner.port) {
    return [wrong(`PORT and STOA_RUNNER_PORT are both ${api.port}`, "set one of them to another port")]
  }
  return [yield* checkPort(api), ...runner === undefined ? [] : [yield* checkPort(runner)]]
})

export const mustListen = (addresses: Addresses) =>
  Effect.flatMap(checkPorts(addresses), (findings) => refuseWrong(findings))

/** For the doctor: a port of a running Stoa is fine. */
export const checkPortsBeside = Effect.fnUntraced(function*(addresses: Addresses) {
  const { api, runner } = portsOf(addresses)
  const version = api.port === 0 ? undefined : yield* versionOfRunning(api)
  if (version === undefined) return yield* checkPorts(addresses)
  return [
    well(`PORT ${api.host}:${api.port} has a running Stoa ${version}`),
    ...runner === undefined ? [] : [well(`STOA_RUNNER_PORT ${runner.host}:${runner.port} is left to it`)]
  ]
})
