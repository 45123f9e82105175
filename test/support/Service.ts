import { DateTime, Effect, Fiber, Layer, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import type { FaultPoint } from "../../src/workflows/checkout/CheckoutWorkflow.ts"
import { freePort } from "./FreePort.ts"
import { madeProgram, sourceProgram, stoaProgram } from "./MadeProgram.ts"
import { callOf, insisting } from "./ServiceCalls.ts"
import { TestApp } from "./TestApp.ts"
import { waitFor } from "./waitFor.ts"

export interface ServiceOptions {
  readonly databaseUrl: string
  /** Default `all`. */
  readonly role?: "all" | "api" | "runner"
  /** The process kills itself at this step boundary of a checkout. */
  readonly faultPoint?: FaultPoint
  /** Ports of a predecessor, so that clients and other processes find this one in its place. */
  readonly ports?: Ports
  /** Program of `test/support` to start in place of the service's own, for example with a payment provider of the test's. */
  readonly program?: string
  /** Starts the service as it is shipped, from its sources, with these arguments of Node.js before it. */
  readonly fromSources?: ReadonlyArray<string>
  readonly environment?: Readonly<Record<string, string>>
}

interface Ports {
  readonly http: number
  readonly runner: number
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** The service as a separate process. */
export interface Service {
  readonly url: string
  readonly ports: Ports
  readonly pid: number
  /** Everything it wrote so far. */
  readonly output: () => string
  /** Sends a signal; nothing happens to a process that has ended. */
  readonly kill: (signal: NodeJS.Signals) => void
  /** Resolves when it has ended. */
  readonly ended: Promise<Ended>
  readonly running: () => boolean
}

/** What Node.js is to start; a program of the tests needs no command. */
const programOf = ({ fromSources, program }: ServiceOptions) => {
  const { environment, file } = fromSources === undefined
    ? madeProgram(program ?? stoaProgram)
    : sourceProgram(stoaProgram)
  return { environment, words: [...fromSources ?? [], file, ...program === undefined ? ["serve"] : []] }
}

const launch = async (options: ServiceOptions): Promise<Service> => {
  const { databaseUrl, environment, faultPoint, role = "all" } = options
  const program = programOf(options)
  const ports = options.ports ?? { http: await freePort(), runner: await freePort() }
  const { NODE_OPTIONS: _, ...inherited } = process.env
  const child: ChildProcess = spawn(process.execPath, [...program.words, "--role", role], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...inherited,
      NODE_ENV: "test",
      ...program.environment,
      STOA_LOG_LEVEL: "info",
      // Every shopper of a test comes from one address.
      STOA_RATE_LIMIT_FACTOR: "1000",
      DATABASE_URL: databaseUrl,
      STOA_DEV_API_KEY: "dev-admin-key",
      PORT: String(ports.http),
      STOA_RUNNER_PORT: String(ports.runner),
      ...(faultPoint === undefined ? {} : { STOA_FAULT_POINT: faultPoint }),
      ...environment
    }
  })
  let output = ""
  const keep = (chunk: Buffer) => {
    output += chunk.toString()
  }
  child.stdout?.on("data", keep)
  child.stderr?.on("data", keep)
  const ended = new Promise<Ended>((resolve) => child.once("close", (code, signal) => resolve({ code, signal })))
  const running = () => child.exitCode === null && child.signalCode === null
  const { pid } = child
  if (pid === undefined) throw new Error("The service could not be started.")
  return {
    url: `http://127.0.0.1:${ports.http}`,
    ports,
    pid,
    output: () => output,
    kill: (signal) => {
      if (running()) process.kill(pid, signal)
    },
    ended,
    running
  }
}

/** Ready: the edge answers and says it is well; a runner, which has no edge, says so in its log. */
const isReady = async (service: Service, role: ServiceOptions["role"]): Promise<boolean> =>
  role === "runner" ? service.output().includes("runner ready") : (await fetch(`${service.url}/api/health`)).ok

const waitUntilReady = (service: Service, role: ServiceOptions["role"]) =>
  waitFor(`${role ?? "all"} to be ready`, async () => {
    if (!service.running()) return "ended" as const
    return await isReady(service, role) ? "ready" as const : undefined
  }).then(
    (state) => state === "ready" ? service : Promise.reject(new Error(`The service ended:\n${service.output()}`)),
    (error: unknown) => Promise.reject(new Error(`${String(error)}\n${service.output()}`))
  )

/** Starts the service; it is killed when the scope closes. */
export const beginService = (options: ServiceOptions): Effect.Effect<Service, never, Scope.Scope> =>
  Effect.acquireRelease(Effect.promise(() => launch(options)), (service) =>
    Effect.promise(() => {
      service.kill("SIGKILL")
      return service.ended
    }))

/** Waits until a service that was begun is ready. */
export const untilReady = (service: Service, role?: ServiceOptions["role"]): Effect.Effect<void> =>
  Effect.promise(() => waitUntilReady(service, role))

/** Starts the service and waits until it is ready; it is killed when the scope closes. */
export const startService = (options: ServiceOptions): Effect.Effect<Service, never, Scope.Scope> =>
  Effect.tap(beginService(options), (service) => untilReady(service, options.role))

/** The process in the place of one that has ended: same ports, no fault point. */
export const restart = (service: Service, options: Omit<ServiceOptions, "faultPoint" | "ports">) =>
  Effect.andThen(Effect.promise(() => service.ended), startService({ ...options, ports: service.ports }))

/** A deployment as `docker-compose.yml` makes it: processes for HTTP before processes for the actors, one database. */
export interface Deployment {
  readonly apis: ReadonlyArray<Service>
  readonly runners: ReadonlyArray<Service>
}

/** Starts that many processes of each role at once. */
export const startDeployment = (databaseUrl: string, counts: {
  readonly apis: number
  readonly runners: number
  readonly environment?: Readonly<Record<string, string>>
}) =>
  Effect.gen(function*() {
    const { environment = {} } = counts
    const started = (role: "api" | "runner", count: number) =>
      Effect.all(Array.from({ length: count }, () => startService({ databaseUrl, role, environment })), {
        concurrency: 3
      })
    const deployment: Deployment = yield* Effect.all(
      { apis: started("api", counts.apis), runners: started("runner", counts.runners) },
      { concurrency: "unbounded" }
    )
    return deployment
  })

const reaching = (url: string, databaseUrl: string, api: TestApp["Service"]["api"]) =>
  Layer.succeed(TestApp, { url, databaseUrl, organizationId: "org_default", api, prepare: insisting(api) })

/** Lets `api` and everything built on it talk to a process. */
export const talkingTo = (service: Service, databaseUrl: string): Layer.Layer<TestApp> =>
  reaching(service.url, databaseUrl, callOf(service.url))

/** The same for several processes, each asked in its turn, as a load balancer does. */
export const talkingToAll = (services: ReadonlyArray<Service>, databaseUrl: string): Layer.Layer<TestApp> => {
  const calls = services.map(({ url }) => callOf(url))
  let turn = 0
  const api: TestApp["Service"]["api"] = (method, path, call) =>
    Effect.suspend(() => calls[turn++ % calls.length]?.(method, path, call) ?? Effect.die(new Error("No process.")))
  return reaching(services[0]?.url ?? "", databaseUrl, api)
}

/**
 * A place in the deployment: a process is killed, `dead` does what is to be done then, and another one starts in its
 * stead, on the same ports. The moment that `dead` is given is that of the signal: when the process is known to have ended
 * others may have taken its work over.
 */
export const placeOf = Effect.fnUntraced(
  function*(options: ServiceOptions, dead: (service: Service, at: Date) => Effect.Effect<void> = () => Effect.void) {
    let service: Service = yield* startService(options)
    let successor: Fiber.Fiber<void> | undefined
    const kill = Effect.gen(function*() {
      const at = yield* DateTime.nowAsDate
      service.kill("SIGKILL")
      yield* Effect.promise(() => service.ended)
      yield* dead(service, at)
    })
    const replace = Effect.suspend(() =>
      Effect.map(restart(service, options), (next) => {
        service = next
      })
    )
    return {
      service: () => service,
      kill,
      replace,
      /** Kills it as soon as it is ready, and does not wait for the next one to be. */
      strike: Effect.gen(function*() {
        if (successor !== undefined) yield* Fiber.join(successor)
        yield* kill
        successor = yield* Effect.forkScoped(replace)
      })
    }
  }
)
