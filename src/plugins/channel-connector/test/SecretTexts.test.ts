import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type ChannelShop, openShop } from "./ChannelShop.ts"
import { signedBy } from "./MemoryStore.ts"

const secrets = ["refused-key-of-a-store", "webhook-secret-of-a-store", "renewed-key-1"]

describe("secrets of stores", () => {
  let shop: ChannelShop
  const output: Array<string> = []
  const [out, error] = [process.stdout.write, process.stderr.write]
  beforeAll(async () => {
    for (const stream of [process.stdout, process.stderr]) {
      stream.write = (text: string | Uint8Array) => output.push(String(text)) > 0
    }
    shop = await openShop()
  })
  afterAll(async () => {
    process.stdout.write = out
    process.stderr.write = error
    await shop.close()
  })

  it("are in no column of the database, no answer and no log", async () => {
    const [key, webhookSecret] = secrets
    const answers: Array<unknown> = []
    const keep = async (method: string, path: string, body?: unknown) =>
      answers.push((await shop.ask(method, `/channels${path}`, body)).body)
    const id = await shop.connect({ credentials: { key }, webhookSecret })
    await shop.until(id, "error")
    await keep("GET", `/stores/${id}`)
    await keep("GET", "/stores")
    await keep("PUT", `/stores/${id}/credentials`, {
      credentials: { key, expiresAt: "2001-01-01T00:00:00Z" },
      webhookSecret
    })
    await keep("PUT", `/stores/${id}/credentials`, { credentials: { secret: key }, webhookSecret })
    await shop.settled(id)
    shop.memory.keys.add(key ?? "")
    await keep("PUT", `/stores/${id}/credentials`, {
      credentials: { key, expiresAt: "2001-01-01T00:00:00Z" },
      webhookSecret
    })
    await shop.until(id, "connected")
    const { body, headers } = signedBy(webhookSecret ?? "", `{"topic":"product","id":"p1"}`, "d")
    await shop.app.app.request("POST", `/api/channels/webhooks/${id}`, { body: Buffer.from(body).toString(), headers })
    await keep("GET", "/deliveries")
    await shop.settled(id)
    assert.strictEqual(shop.memory.renewed, 2)

    const tables = await shop.app.db.query(
      "select table_name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'"
    )
    assert.isAbove(tables.length, 100)
    for (const secret of secrets) {
      const found: Array<unknown> = []
      for (const { table_name: name } of tables) {
        const rows = await shop.app.db.query(`select 1 from "${name}" t where t::text like $1 limit 1`, [`%${secret}%`])
        if (rows.length > 0) found.push(name)
      }
      assert.deepStrictEqual(found, [], secret)
      assert.notInclude(JSON.stringify(answers), secret)
      assert.notInclude(output.join(""), secret)
    }
  })
})
