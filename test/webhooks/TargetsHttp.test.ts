import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { type Received, startReceiver } from "../support/ScriptedReceiver.ts"
import { api, asAdmin, at, testAppLayer } from "../support/TestApp.ts"
import { anEndpoint, anEvent, delivering, logOf, register, webhooks } from "./Endpoints.ts"

/** Addresses of machines that are not on the internet, in every way of writing them (contract §9.5). */
const inward = [
  "http://localhost/",
  "http://LOCALHOST:8080/",
  "http://localhost./",
  "http://shop.localhost/",
  "http://localhost.localdomain/",
  "http://printer.local/",
  "http://db.internal/",
  "http://metadata.google.internal/computeMetadata/v1/",
  "http://0.0.0.0/",
  "http://127.0.0.1/",
  "http://127.1/",
  "http://127.255.255.254/",
  "http://2130706433/",
  "http://0x7f000001/",
  "http://0177.0.0.1/",
  "http://10.0.0.1/",
  "http://172.16.0.1/",
  "http://172.31.255.255/",
  "http://192.168.1.1/",
  "http://169.254.169.254/latest/meta-data/",
  "http://100.64.0.1/",
  "http://198.18.0.1/",
  "http://192.0.0.1/",
  "http://192.0.2.1/",
  "http://198.51.100.1/",
  "http://203.0.113.1/",
  "http://224.0.0.1/",
  "http://240.0.0.1/",
  "http://255.255.255.255/",
  "http://[::]/",
  "http://[::1]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[::ffff:7f00:1]/",
  "http://[::ffff:10.0.0.1]/",
  "http://[fc00::1]/",
  "http://[fd12:3456:789a::1]/",
  "http://[fe80::1]/",
  "http://[ff02::1]/",
  "http://[64:ff9b::7f00:1]/",
  "http://[64:ff9b::a00:1]/",
  "http://[2002:7f00:1::]/",
  "http://[2002:a00:1::1]/",
  "http://[2001:db8::1]/"
]

const notWeb = [
  "ftp://hooks.example.com/",
  "file:///etc/passwd",
  "gopher://hooks.example.com/",
  "javascript:alert(1)",
  "data:text/plain,x",
  "https://user:password@hooks.example.com/",
  "https://user@hooks.example.com/"
]

const outward = [
  "https://hooks.example.com/stoa?shop=1",
  "http://hooks.example.com/",
  "https://93.184.216.34/",
  "https://[2606:2800:220:1:248:1893:25c8:1946]/",
  "https://127.0.0.1.example.com/"
]

const attempt = (url: string) => register({ url, events: ["catalog.create"] })

/** The table of endpoints, whatever its name: the one with an address and events in it. */
const endpointTable = onDatabase((sql) =>
  sql<{ readonly name: string }>`select c.table_name as name from information_schema.columns c
    join information_schema.columns e using (table_schema, table_name)
    where c.table_schema = 'public' and c.column_name = 'url' and e.column_name = 'events'`
)

const guarded = { hooks: [], jobs: { autorun: { enabled: false } }, webhooks: { disableAfterDays: 5 } }

layer(testAppLayer(guarded), { excludeTestServices: true, timeout: "60 seconds" })("where deliveries may go", (it) => {
  describe("a registration", () => {
    it.effect("is refused for an address inside, however it is written", () =>
      Effect.gen(function*() {
        const accepted: Array<string> = []
        for (const url of inward) {
          const answer = yield* attempt(url)
          if (answer.status === 422) assert.strictEqual(answer.at("error.details.issues.0.path"), "url", url)
          else accepted.push(`${url} ${answer.status}`)
        }
        assert.deepStrictEqual(accepted, [])
      }))

    it.effect("is refused for anything that is not the web, and for an address with a user in it", () =>
      Effect.gen(function*() {
        for (const url of notWeb) refused(yield* attempt(url), 422, "VALIDATION_FAILED", url)
      }))

    it.effect("is accepted for addresses outside", () =>
      Effect.gen(function*() {
        for (const url of outward) assert.strictEqual((yield* attempt(url)).status, 201, url)
      }))
  })

  describe("a delivery", () => {
    it.effect("to a name or an address that has come to point inside calls nobody and says so in the log", () =>
      Effect.gen(function*() {
        const receiver = yield* startReceiver
        const [table, ...others] = yield* endpointTable
        assert.deepStrictEqual(others, [])
        const hosts = ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"]
        for (const host of hosts) {
          const { id } = yield* anEndpoint("https://93.184.216.34/", ["catalog.create"])
          // What a registration would refuse can still come about: the name's address changes after it.
          const url = `http://${host}:${receiver.port}/inside`
          yield* onDatabase((sql) => sql`update ${sql(table?.name ?? "")} set url = ${url} where id = ${id}::uuid`)
          yield* anEvent()
          const rows = yield* delivering(
            `the refusal of ${host}`,
            Effect.map(logOf(id), (log) => log.some((row) => typeof at(row, "error") === "string") && log)
          )
          assert.strictEqual(at(rows[0], "statusCode") ?? null, null, host)
          yield* api("DELETE", `${webhooks}/${id}`, { as: asAdmin })
        }
        assert.deepStrictEqual(receiver.received().map((one: Received) => one.path), [])
      }))
  })
})

const inProduction = layer(testAppLayer(guarded, { environment: "production" }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})

inProduction("where deliveries may go in production", (it) => {
  it.effect("is over TLS only", () =>
    Effect.gen(function*() {
      const send = (url: string) =>
        api("POST", webhooks, { headers: { "x-api-key": "dev-admin-key" }, body: { url, events: ["*"] } })
      refused(yield* send("http://hooks.example.com/"), 422, "VALIDATION_FAILED")
      assert.strictEqual((yield* send("https://hooks.example.com/")).status, 201)
    }))
})
