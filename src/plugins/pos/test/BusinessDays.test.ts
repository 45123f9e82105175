import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { openTills, picked, type TillShop } from "./TillShop.ts"

/** contract-tills-channels K2, A.1 and A.10: the day of a sale is that of its terminal. */
describe("the business day of a sale", () => {
  let shop: TillShop
  beforeAll(async () => {
    shop = await openTills({}, { store: { timeZone: "America/New_York" } })
  })
  afterAll(() => shop.close())

  const zurich = { timeZone: "Europe/Zurich" }

  /** The clock goes forward to the next time that it is so late in a zone. */
  const forwardTo = (timeZone: string, hour: number, minute: number) => {
    const parts = new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" })
      .formatToParts(shop.app.clock.now())
    const value = (type: string) => Number(parts.find((part) => part.type === type)?.value)
    const now = value("hour") * 60 + value("minute")
    shop.app.clock.advance((((hour * 60 + minute - now) + 1_440) % 1_440) * 60_000)
  }
  const dayIn = (timeZone: string, before = 0) =>
    new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short" }).format(
      shop.app.clock.now() - before * 86_400_000
    )
  const startAt = async (till: Awaited<ReturnType<TillShop["till"]>>) => {
    const { receiptNumber, started } = await shop.start(till)
    return [started.at("data.businessDate"), receiptNumber]
  }
  const named = (code: string, date: string, number: string) => [date, `${code}-${date.replaceAll("-", "")}-${number}`]

  it("changes at midnight of the terminal's zone, where the count begins again", async () => {
    forwardTo("Europe/Zurich", 23, 50)
    const till = await shop.till(zurich)
    const evening = dayIn("Europe/Zurich")
    assert.deepStrictEqual(await startAt(till), named(till.code, evening, "0001"))
    assert.deepStrictEqual(await startAt(till), named(till.code, evening, "0002"))
    shop.app.clock.advance("20 minutes")
    const morning = dayIn("Europe/Zurich")
    assert.notStrictEqual(morning, evening)
    // In UTC it is still the day before.
    assert.strictEqual(dayIn("UTC"), evening)
    assert.deepStrictEqual(await startAt(till), named(till.code, morning, "0001"))
  })

  it("lasts into the night where it starts later", async () => {
    forwardTo("Europe/Zurich", 23, 50)
    const bar = await shop.till({ ...zurich, businessDayStart: "04:00" })
    const evening = dayIn("Europe/Zurich")
    await startAt(bar)
    shop.app.clock.advance("20 minutes")
    assert.deepStrictEqual(await startAt(bar), named(bar.code, evening, "0002"))
    forwardTo("Europe/Zurich", 3, 58)
    assert.deepStrictEqual(await startAt(bar), named(bar.code, evening, "0003"))
    shop.app.clock.advance("4 minutes")
    assert.deepStrictEqual(await startAt(bar), named(bar.code, dayIn("Europe/Zurich"), "0001"))
  })

  it("is the store's for a terminal without a zone", async () => {
    forwardTo("America/New_York", 23, 30)
    const till = await shop.till()
    const day = dayIn("America/New_York")
    assert.notStrictEqual(day, dayIn("UTC"))
    assert.deepStrictEqual(await startAt(till), named(till.code, day, "0001"))
  })

  it("stays that of the start when a sale completes after midnight", async () => {
    forwardTo("Europe/Zurich", 23, 55)
    const till = await shop.till(zurich)
    const evening = dayIn("Europe/Zurich")
    const { path, receiptNumber } = await shop.sale(till)
    await shop.done("POST", `${path}/hold`, { label: "x" })
    shop.app.clock.advance("10 minutes")
    await shop.done("POST", `${path}/recall`, {})
    await shop.pay(path, 1_000)
    const done = await shop.complete(path)
    assert.deepStrictEqual(picked(done, "transaction.receiptNumber", "transaction.businessDate"), [
      receiptNumber,
      evening
    ])
    const list = await shop.read(`/transactions?shiftId=${till.shiftId}&businessDate=${evening}`)
    assert.strictEqual(list.at("meta.pagination.total"), 1)
    const receipt = await shop.read(`${path}/receipt`)
    assert.strictEqual(receipt.at("data.businessDate"), evening)
  })

  it("takes no zone and no hour that there is not", async () => {
    for (const wrong of [{ timeZone: "Europe/Nowhere" }, { businessDayStart: "24:00" }, { businessDayStart: "4" }]) {
      await shop.refused("422 VALIDATION_FAILED", "POST", "/terminals", { name: "X", code: "X", ...wrong })
    }
  })
})
