import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { ChannelUnavailable } from "../index.ts"
import { openShop } from "./ChannelShop.ts"

it("a change of a product while its last push is abandoned is pushed again", async () => {
  const shop = await openShop()
  const id = await shop.connect()
  await shop.ran(id, "import")
  await shop.done("PUT", `/stores/${id}/catalog-write`, { enabled: true })
  const { entityId } = await shop.thing(id, "p1")
  const rename = (title: string) => shop.ask("PUT", `/catalog/entities/${entityId}/attributes/en`, { title })
  const states = async () =>
    (await shop.app.db.query("select state from channel_catalog_pushes where entity_id = $1 order by created_at", [
      entityId
    ])).map(({ state }) => state)
  const failure = new ChannelUnavailable({ message: "Not there." })

  shop.memory.failure = failure
  await rename("First")
  await waitFor("the push failed", async () => (await states()).includes("failed"))
  await shop.settled(id)
  await shop.app.db.query("update channel_catalog_pushes set attempts = 7")
  shop.memory.failure = undefined
  shop.memory.beforeWrite = Effect.promise(async () => {
    shop.memory.beforeWrite = Effect.void
    await rename("Second")
    const noted = "select 1 from channel_catalog_pushes where entity_id = $1 and attempts = 0"
    await waitFor("the change is noted", async () => (await shop.app.db.query(noted, [entityId])).length > 0)
    shop.memory.failure = failure
  })
  shop.app.clock.advance("11 minutes")
  await waitFor("the push is abandoned", async () => (await states())[0] === "abandoned")
  shop.memory.failure = undefined
  await waitFor("the change is written", async () => {
    const [, state] = await states()
    if (state === "failed") shop.app.clock.advance("2 minutes")
    return state === "confirmed"
  })
  const [title] = shop.memory.products.flatMap(({ draft, externalId }) =>
    externalId === "p1" ? draft.product["attributes"] : []
  )
  assert.deepStrictEqual(title, { title: "Second" })
  // Nothing asks for it again.
  await shop.settled(id)
  await shop.close()
})
