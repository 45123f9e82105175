import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { ann, type BoxShop, openBoxShop } from "./BoxShop.ts"

describe("the notice of a renewal", () => {
  let shop: BoxShop
  const mails: Array<{ readonly template: string; readonly text: string }> = []
  beforeAll(async () => {
    const send = async ({ template, text }: { readonly template: string; readonly text: string }) =>
      void mails.push({ template, text })
    shop = await openBoxShop({ timezone: "Europe/Vienna" }, {
      email: { send },
      shipping: { type: "flat", flatRate: 490 }
    })
  })
  afterAll(() => shop.close())

  const notices = () => mails.filter(({ template }) => template === "scheduled-orders/notice")
  /** Runs what the service does every five minutes, three times at once, until all of its jobs have ended. */
  const announce = async () => {
    await Promise.all([1, 2, 3].map(() => shop.serviceRegistry.enqueue("scheduled-orders/notice", {})))
    const open = `select 1 from commerce_jobs where status in ('pending', 'processing')
      and task_slug in ('scheduled-orders/notice', 'scheduled-orders/notify', 'mail/send')`
    await waitFor("the jobs", async () => (await shop.db.query(open)).length === 0)
  }
  const scheduledIn = async (days: number, more: object = {}) => {
    const wish = { scheduledFor: shop.inHours(24 * days), everyDays: 7, ...more }
    const cartId = await shop.cart(ann, await shop.product({ price: 1_250 }), 2)
    await shop.ask("PATCH", `/carts/${cartId}`, { locale: "de" }, ann)
    return (await shop.done("POST", "", shop.wish(cartId, wish), ann)).text("data.id")
  }

  it("says date and total in the customer's language, once however often its jobs run", async () => {
    const id = await scheduledIn(5)
    await announce()
    assert.isEmpty(notices())
    shop.clock.advance("2 days")
    await announce()
    const [mail] = notices()
    const day = new Intl.DateTimeFormat("de", { dateStyle: "full", timeZone: "Europe/Vienna" })
    const { scheduledFor } = await shop.row(id)
    assert.include(mail?.text, day.format(new Date(scheduledFor)))
    assert.match(mail?.text ?? "", /2 × .*Heute kostet es insgesamt 25,00\s\$/s)
    assert.notMatch(mail?.text ?? "", /abbestellen|unsubscribe/i)
    // As after processes that died before they noted that the notice, or its job, was done.
    await shop.db.query("update scheduled_orders set notice_at = now() - interval '1 day' where id = $1", [id])
    await announce()
    await shop.serviceRegistry.enqueue("scheduled-orders/notify", { id, scheduledFor })
    await announce()
    assert.lengthOf(notices(), 1)
    await shop.done("POST", `/${id}/skip`, undefined, ann)
    shop.clock.advance("7 days")
    await announce()
    assert.lengthOf(notices(), 2)
    await shop.due(id, "completed", 72)
    assert.isNull((await shop.row(id)).noticeAt)
  })

  it("is for renewals that are still to come", async () => {
    const before = notices().length
    await scheduledIn(5, { everyDays: null })
    const [paused, moved] = [await scheduledIn(5), await scheduledIn(5)]
    const noted = (await shop.row(moved)).scheduledFor
    await shop.done("POST", `/${paused}/pause`, undefined, ann)
    await shop.done("PATCH", `/${moved}`, { scheduledFor: shop.inHours(24 * 20) }, ann)
    shop.clock.advance("3 days")
    await shop.serviceRegistry.enqueue("scheduled-orders/notify", { id: moved, scheduledFor: noted })
    await announce()
    assert.lengthOf(notices(), before)
    await shop.done("POST", `/${paused}/resume`, undefined, ann)
    await announce()
    assert.lengthOf(notices(), before + 1)
  })

  it("says why an order could not be placed, and leaves out the costs of shipping what is picked up", async () => {
    const deliveryAddress = {
      firstName: "A",
      lastName: "B",
      line1: "Ring 1",
      city: "Wien",
      postalCode: "1010",
      country: "AT"
    }
    await scheduledIn(5)
    await scheduledIn(5, { orderType: "delivery", deliveryAddress })
    const gone = Object((await shop.row(await scheduledIn(5))).items[0]).entityId
    await shop.ask("PATCH", `/catalog/entities/${gone}`, { status: "archived" })
    const before = notices().length
    shop.clock.advance("3 days")
    await announce()
    const texts = notices().slice(before).map(({ text }) => /(25,00|29,90|nicht bestellt werden: \S+)/.exec(text)?.[0])
    assert.includeMembers(texts, ["25,00", "29,90"])
    assert.isTrue(texts.some((text) => text?.startsWith("nicht bestellt werden")))
  })
})
