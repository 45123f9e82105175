import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { CurrencyCode, type Outbound } from "stoa/plugin"
import { channelAdapter, type OrderSlice } from "../index.ts"
import { adapterContract, type StoreUnderTest } from "../testing/AdapterContract.ts"
import { memoryStore, signedBy } from "./MemoryStore.ts"

/** The store in memory calls nothing. */
const nothing: Outbound = {
  request: () => Effect.die("called"),
  json: () => Effect.die("called"),
  stream: () => Effect.die("called")
}

const slice = (): OrderSlice => ({
  orderId: randomUUID(),
  orderNumber: "1001",
  currency: CurrencyCode.make("USD"),
  grandTotal: 900,
  shippingTotal: 0,
  taxTotal: 0,
  pricesIncludeTax: false,
  lines: [{ externalVariantId: "v1", sku: null, title: "Thing", quantity: 1, unitPrice: 900, totalPrice: 900 }],
  customer: { name: "Ann", email: "ann@x.example", shippingAddress: { country: "US" } }
})

const underTest = (): StoreUnderTest & { readonly memory: ReturnType<typeof memoryStore> } => {
  const memory = memoryStore()
  return {
    memory,
    adapter: memory.adapter,
    domain: "https://memory.example",
    http: nothing,
    credentials: { key: "right-key-1" },
    refusedCredentials: { key: "wrong-key-1" },
    secrets: [],
    webhookSecret: "webhook-secret",
    webhook: (id, body = `{"topic":"product","id":"p1"}`) => signedBy("webhook-secret", body, id),
    slice
  }
}

/** Names of the checks that fail. */
const failing = async (test: StoreUnderTest) => {
  const found: Array<string> = []
  for (const { name, run } of adapterContract(test)) await run().catch(() => found.push(name))
  return found
}

describe("the contract of adapters", () => {
  it("is kept by the store in memory", async () => {
    for (const { name, run } of adapterContract(underTest())) {
      await run().catch((error) => assert.fail(`${name}: ${error}`))
    }
  })

  it("finds secrets in errors, parts without a capability, and webhooks that are not checked", async () => {
    const test = underTest()
    assert.deepStrictEqual(await failing({ ...test, secrets: ["wrong-key-1"] }), [
      "verifies credentials, and says nothing secret about those that are refused"
    ])
    const { definition } = test.memory
    const without = channelAdapter({ ...definition, capabilities: ["catalog", "pushCatalog", "stock", "webhooks"] })
    assert.deepStrictEqual(await failing({ ...underTest(), adapter: without }), [
      "has the parts that its capabilities say"
    ])
    const careless = channelAdapter({
      ...definition,
      connect: (access) => {
        const channel = definition.connect(access)
        return channel.webhooks === undefined
          ? channel
          : { ...channel, webhooks: { ...channel.webhooks, isGenuine: () => true } }
      }
    })
    assert.deepStrictEqual(await failing({ ...underTest(), adapter: careless }), [
      "knows its webhooks by the bytes that it signed"
    ])
  })

  it("finds stock that is set over another value than the expected one", async () => {
    const { definition, state } = memoryStore()
    const wrong = channelAdapter({
      ...definition,
      connect: (access) => {
        const { stock, ...channel } = definition.connect(access)
        return stock === undefined ? channel : {
          ...channel,
          stock: {
            ...stock,
            set: (changes, key) =>
              stock.set(changes.map((one) => ({ ...one, expected: state.levels.get(one.externalId) ?? 5 })), key)
          }
        }
      }
    })
    assert.deepStrictEqual(await failing({ ...underTest(), adapter: wrong }), [
      "sets stock only where it is as expected, and once for a key"
    ])
  })
})
