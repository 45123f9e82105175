import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { customer, openSalon, type Salon } from "./Salon.ts"

const [ann, bob, eve, ida] = [customer("ann"), customer("bob"), customer("eve"), customer("ida")]
const contact = ({ email, name }: typeof ann) => ({ customerName: name, customerEmail: email })

/** Sunday with the hour from two to three twice in Vienna. */
const sunday = "2027-10-31"
const at = (time: string) => `${sunday}T${time}:00.000Z`

describe("a hair salon with three chairs over the end of summer time", () => {
  let salon: Salon
  beforeAll(async () => {
    salon = await openSalon()
  })
  afterAll(() => salon.close())
  const until = (time: string) => salon.clock.advance(Date.parse(time) - salon.clock.now())

  it("books, reminds, notes a no-show and gives a cancelled time to who waits for it", async () => {
    const cut = await salon.service({ maxAdvanceDays: 400, minNoticeMins: 60, priceCents: 4_000, currency: "EUR" })
    const week = [{ dayOfWeek: 0, startTime: "00:00", endTime: "05:00" }]
    const chair = (name: string) => salon.provider(cut, { name, week, timezone: "Europe/Vienna" })
    const [ada, grace, edith] = [await chair("Ada"), await chair("Grace"), await chair("Edith")]
    // Five hours of the clock are six.
    const night = ["22:00", "23:00", "00:00", "01:00", "02:00", "03:00"]
    assert.deepStrictEqual(await salon.slots(ada, cut, sunday), night)
    assert.deepStrictEqual(await salon.slots(ada, cut, "2027-10-24"), night.slice(0, 5))
    const all = await salon.done("GET", `/availability/slots?from=${sunday}&to=${sunday}&serviceTypeId=${cut}`)
    assert.deepStrictEqual(all.list("data").map((one) => Object(one).providers), [3, 3, 3, 3, 3, 3])

    // Both hours that the clock calls two are booked, and mean different times.
    const first = await salon.book(ann, cut, at("00:00"), { providerId: ada, ...contact(ann) })
    await salon.book(ann, cut, at("01:00"), { providerId: ada, ...contact(ann), paymentMethod: "card" })
    const missed = await salon.book(bob, cut, at("01:00"), { providerId: grace, ...contact(bob) })
    const third = await salon.book(bob, cut, at("01:00"), { providerId: edith, ...contact(bob), paymentMethod: "card" })
    assert.deepStrictEqual(await salon.slots(ada, cut, sunday), ["22:00", "23:00", "02:00", "03:00"])
    for (const id of [first, missed, third]) await salon.done("POST", `/bookings/${id}/confirm`, {})
    await salon.mailed("confirmation", "bob@example.com", { timezone: "Europe/Vienna" })
    await salon.refused("422 VALIDATION_FAILED", "POST", `/bookings/${missed}/no-show`, {})

    // Eve waits for any chair at one, Ida after her.
    const window = { serviceTypeId: cut, earliest: at("01:00"), latest: at("01:30") }
    const waits = async (who: typeof ann) =>
      (await salon.done("POST", "/waiting-list", { ...window, ...contact(who) }, who)).text("data.id")
    const [eves, idas] = [await waits(eve), await waits(ida)]
    await salon.refused("409 CONFLICT", "POST", "/waiting-list", { ...window, ...contact(eve) }, eve)
    for (const wrong of [{ latest: at("00:00") }, { customerEmail: "x" }]) {
      const body = { ...window, ...contact(eve), ...wrong }
      await salon.refused("422 VALIDATION_FAILED", "POST", "/waiting-list", body, bob)
    }
    const place = async (id: string) => (await salon.done("GET", `/waiting-list/${id}`)).at("data.status")
    await salon.refused("404 NOT_FOUND", "GET", `/waiting-list/${eves}`, undefined, ida)

    until("2027-10-29T12:00:00Z")
    await salon.done("POST", `/bookings/${third}/cancel`, { reason: "Ill" }, bob)
    await salon.mailed("cancellation", "bob@example.com", { reason: "Ill" })
    await salon.mailed("opening", "eve@example.com", { provider: "Edith", startTime: at("01:00") })
    assert.deepStrictEqual([await place(eves), await place(idas)], ["offered", "waiting"])
    // It is held: for others it is taken.
    const wish = (who: typeof ann) => salon.wish(cut, at("01:00"), { providerId: edith, ...contact(who) })
    await salon.refused("409 CONFLICT", "POST", "/bookings", wish(ida), ida)
    assert.notInclude(await salon.slots(edith, cut, sunday, null), "01:00")
    assert.include(await salon.slots(edith, cut, sunday, eve), "01:00")
    // Eve lets it go by; then it is Ida's.
    salon.clock.advance("121 minutes")
    await salon.run("waiting-list-expiry")
    await salon.mailed("opening", "ida@example.com", { startTime: at("01:00") })
    assert.deepStrictEqual([await place(eves), await place(idas)], ["expired", "offered"])
    await salon.refused("409 CONFLICT", "POST", "/bookings", wish(eve), eve)
    const late = (await salon.done("POST", "/bookings", wish(ida), ida)).text("data.booking.id")
    assert.strictEqual(await place(idas), "booked")

    // A day before: reminders; what is not confirmed and not paid by card is cancelled in place of one.
    await salon.done("POST", `/bookings/${first}/reschedule`, { newStartTime: at("03:00") }, ann)
    until("2027-10-30T03:30:00Z")
    await salon.run("auto-cancel")
    await salon.run("reminder")
    await salon.mailed("reminder", "bob@example.com", { startTime: at("01:00") })
    await salon.mailed("cancellation", "ida@example.com", { reason: "Not confirmed in time." })
    await salon.mailed("cancellation", "ann@example.com", { startTime: at("03:00") })
    assert.strictEqual(await salon.status(late), "cancelled")
    // None for times that were given up.
    const reminded = salon.mails.filter(({ template }) => template.endsWith("/reminder"))
    assert.notIncludeMembers(reminded.map(({ data }) => data["startTime"]), [at("00:00")])
    assert.notIncludeMembers(reminded.map(({ data }) => data["provider"]), ["Edith"])
    until("2027-10-31T00:30:00Z")
    await salon.run("reminder")
    const reminders = () =>
      salon.mails.filter(({ template, to }) => `${template} ${to}` === "appointments/reminder bob@example.com")
    await waitFor("both reminders", () => reminders().length === 2)

    // Bob does not come, and cannot undo that.
    until("2027-10-31T01:20:00Z")
    await salon.refused("422 VALIDATION_FAILED", "POST", `/bookings/${missed}/cancel`, {}, bob)
    const move = { newStartTime: at("03:00") }
    await salon.refused("422 VALIDATION_FAILED", "POST", `/bookings/${missed}/reschedule`, move, bob)
    await salon.done("POST", `/bookings/${missed}/no-show`, {})
    await salon.mailed("no-show", "bob@example.com")
  })
})
