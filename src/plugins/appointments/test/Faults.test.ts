import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Cutter, openCutter } from "../../../../test/support/OpenTap.ts"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { customer, openSalon, type Salon } from "./Salon.ts"

const [ann, bob] = [customer("ann"), customer("bob")]

describe("a process that ends between two statements", () => {
  let salon: Salon
  let cutter: Cutter
  beforeAll(async () => {
    cutter = await openCutter(/appointment_/)
    salon = await openSalon({}, { postgres: cutter, jobs: { autorun: { enabled: false } } })
  })
  afterAll(async () => {
    await salon.close()
    await cutter.close()
  })

  // A commit that was made before it was cut off is refused the next time.
  const cutOff = (path: string, body: object, check: () => Promise<void>) =>
    cutter.cutOff(salon, [201, 409, 422], () => salon.ask("POST", `/appointments${path}`, body, ann), check)

  it("leaves no appointment half booked, moved or cancelled", async () => {
    const service = await salon.service()
    const providerId = await salon.provider(service)
    const at = (time: string) => salon.at(2, time)
    const waits = async (time: string, who = bob) => {
      const contact = { customerName: "Bob", customerEmail: who.email }
      const body = { serviceTypeId: service, earliest: at(time), latest: at(time), ...contact }
      return (await salon.done("POST", "/waiting-list", body, who)).text("data.id")
    }
    const place = async (id: string) => (await salon.done("GET", `/waiting-list/${id}`)).at("data.status")
    /** How many appointments there are, when the active ones begin, and the id of the latest. */
    const read = async () => {
      const rows = (await salon.done("GET", `/bookings?providerId=${providerId}`)).list("data").map(Object)
      const active = rows.filter(({ status }) => status === "provisional").map((one) => one.startTime.slice(11, 16))
      return { rows: rows.length, active: active.join(" "), id: String(rows[0]?.id) }
    }
    const anns = await waits("09:00", ann)
    const booked = await cutOff("/bookings", salon.wish(service, at("09:00"), { providerId }), async () => {
      const { active, rows } = await read()
      assert.include(["0  waiting", "1 09:00 booked"], `${rows} ${active} ${await place(anns)}`)
    })
    const first = await read()
    assert.strictEqual(first.active, "09:00")

    const waiting = await waits("09:00")
    const moved = await cutOff(`/bookings/${first.id}/reschedule`, { newStartTime: at("11:00") }, async () => {
      const { active, rows } = await read()
      const wait = await place(waiting)
      assert.include(["1 09:00 waiting", "2 11:00 offered"], `${rows} ${active} ${wait}`)
    })
    assert.deepInclude(await read(), { rows: 2, active: "11:00" })

    await salon.done("DELETE", `/waiting-list/${waiting}`, undefined, bob)
    const next = await waits("11:00")
    const { id } = await read()
    const cancelled = await cutOff(`/bookings/${id}/cancel`, {}, async () => {
      const { active, rows } = await read()
      assert.include(["2 11:00 waiting", "2  offered"], `${rows} ${active} ${await place(next)}`)
    })
    assert.deepInclude(await read(), { rows: 2, active: "" })
    for (const count of [booked, moved, cancelled]) assert.isAtLeast(count, 6)
  }, 300_000)

  it("reads free times in as many statements for many providers and a year as for one and a day", async () => {
    const service = await salon.service({ maxAdvanceDays: 400 })
    const first = await salon.provider(service, { timezone: "Europe/Vienna" })
    const statements = async (path: string) => {
      cutter.take()
      const { list } = await salon.done("GET", path, undefined, null)
      assert.isNotEmpty(list("data"))
      return cutter.take().filter(({ text }) => text.includes("appointment_")).length
    }
    const one = await statements(`/availability/${first}/slots?date=${salon.day(2)}&serviceTypeId=${service}`)
    for (let n = 0; n < 5; n++) {
      await salon.provider(service, { timezone: n % 2 === 0 ? "Asia/Tokyo" : "America/New_York" })
    }
    const year = `from=${salon.day(1)}&to=${salon.day(366)}`
    const all = await statements(`/availability/slots?${year}&serviceTypeId=${service}`)
    // One looks for the provider first.
    assert.deepStrictEqual([one, all], [8, 7])
  })
})

/** Not those with which scheduled tasks look for what is due. */
const requests = /^(?!select t\.id, t\.organization_id).*appointment_/s

describe("a payment in advance whose process ends before any of its statements", () => {
  let salon: Salon
  let cutter: Cutter
  beforeAll(async () => {
    cutter = await openCutter(requests, "any connection")
    salon = await openSalon({}, { postgres: cutter })
  })
  afterAll(async () => {
    await salon.close()
    await cutter.close()
  })

  it("has paid for an appointment that takes place, or leaves neither", async () => {
    const service = await salon.service({ priceCents: 4_000, entityId: await salon.product({ price: 4_000 }) })
    const providerId = await salon.provider(service)
    const means = { providerId, paymentMethod: "card", paymentMethodId: "test" }
    /** What became of the appointments, and how many orders each has whose money was not given back, or is to be. */
    const ends = async () =>
      (await salon.db.query(
        `select concat_ws(' ', b.status, b.payment_status, count(o.id)) as is from appointment_bookings b
          left join order_lines l on l.metadata->>'appointmentId' = b.id::text
          left join orders o on o.id = l.order_id and o.status <> 'cancelled'
            and not exists (select from refunds r where r.order_id = o.id and r.amount = o.grand_total) group by b.id`
      )).map((row) => String(row["is"]))
    const whole = ["provisional paid 1", "cancelled failed 0", "cancelled refunded 0"]
    let tried = 0
    const pay = () =>
      salon.ask("POST", "/appointments/bookings", salon.wish(service, salon.at(++tried, "09:00"), means), ann)
    const times = await cutter.cutOff(salon, [201], pay, async () => {
      await salon.db.query("update appointment_bookings set pay_by = now() where payment_status = 'pending'")
      await salon.run("unpaid")
      await waitFor("all to be whole", async () => (await ends()).every((one) => whole.includes(one)))
    })
    assert.include(await ends(), "provisional paid 1")
    assert.isAtLeast(times, 12)
  }, 300_000)
})
