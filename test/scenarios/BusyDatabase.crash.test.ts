import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { Client } from "pg"
import { forward } from "../support/Forwarding.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { serverWith } from "../support/SeparateServer.ts"
import { beginService, type Service, untilReady } from "../support/Service.ts"
import { waitFor } from "../support/waitFor.ts"

const connected = async (url: string): Promise<Client | undefined> => {
  const client = new Client({ connectionString: url })
  client.on("error", () => undefined)
  return await client.connect().then(() => client, () => undefined)
}

/** Takes every connection that the server has, and gives back as many as are to be left. */
const takeAllBut = async (url: string, left: number): Promise<ReadonlyArray<Client>> => {
  const taken: Array<Client> = []
  for (let next = await connected(url); next !== undefined; next = await connected(url)) taken.push(next)
  await Promise.all(taken.splice(0, left).map((client) => client.end()))
  return taken
}

const waits = (service: Service) => service.output().match(/the database .*; waiting for it, 60 s at most/g) ?? []

const untilItWaits = (service: Service) =>
  Effect.promise(() =>
    waitFor("the service to wait for its database", () => {
      assert.isTrue(service.running(), service.output())
      return waits(service).length > 0
    })
  )

const saysOnce = (service: Service, what: string) => {
  assert.deepStrictEqual(waits(service), [`the database ${what}; waiting for it, 60 s at most`])
  assert.notMatch(service.output(), /^stoa: |ERROR/m)
}

for (const left of [0, 2]) {
  it.live(`a start waits for a database that has ${left} free connections, and says so once`, () =>
    Effect.gen(function*() {
      const { url } = yield* serverWith({ max_connections: 40 })
      const taken = yield* Effect.promise(() => takeAllBut(url, left))
      const service = yield* beginService({ databaseUrl: url })
      yield* untilItWaits(service)
      yield* Effect.promise(() => Promise.all(taken.map((client) => client.end())))
      yield* untilReady(service)
      saysOnce(service, "has no free connection")
    }))
}

/** An ErrorResponse of PostgreSQL with this code and text. */
const errorResponse = (code: string, text: string): Buffer => {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${text}\0\0`)
  const head = Buffer.alloc(5)
  head.write("E")
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}

it.live("a start waits for a database that is starting up", () =>
  Effect.gen(function*() {
    const { url } = yield* freshDatabase
    const target = new URL(url)
    const open = new Set<Socket>()
    let up = false
    const front = createServer((client) => {
      if (up) return forward(client, connect(Number(target.port), target.hostname), open)
      client.on("error", () => client.destroy())
      client.once("data", () => client.end(errorResponse("57P03", "the database system is starting up")))
    })
    yield* Effect.promise(() => new Promise<void>((done) => front.listen(0, "127.0.0.1", done)))
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        front.close()
        for (const socket of open) socket.destroy()
      })
    )
    const address = new URL(url)
    address.port = String((front.address() as AddressInfo).port)
    const service = yield* beginService({ databaseUrl: address.href })
    yield* untilItWaits(service)
    up = true
    yield* untilReady(service)
    saysOnce(service, "is starting up or shutting down")
  }))
