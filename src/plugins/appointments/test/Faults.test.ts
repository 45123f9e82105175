import { afterAll, assert, beforeAll, describe, inject, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { tapOn } from "../../../../test/support/StatementTap.ts"
import { customer, openSalon, type Salon } from "./Salon.ts"

const [ann, bob] = [customer("ann"), customer("bob")]

/** More than any of these requests sends, with what begins and ends transactions. */
const most = 40

describe("a process that ends between two statements", () => {
  let salon: Salon
  let take: () => ReadonlyArray<{ readonly text: string }>
  const scope = Scope.makeUnsafe()
  /** Before which statement the connection of the request is cut, counted from its first one about appointments. */
  let left = 0
  let own: number | undefined
  beforeAll(async () => {
    const before = (text: string, connection: number, cut: () => void) => {
      if (left > 0 && own === undefined && text.includes("appointment_")) own = connection
      if (connection === own && left > 0 && --left === 0) cut()
    }
    const tap = await Effect.runPromise(Scope.provide(tapOn(inject("postgres").url, before), scope))
    take = tap.take
    salon = await openSalon({}, { postgres: tap.url, jobs: { autorun: { enabled: false } } })
  }, 120_000)
  afterAll(async () => {
    await salon.close()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  /** Sends a request that is cut off before each of its statements in turn; `check` looks at what is there. */
  const cutOff = async (path: string, body: object, check: () => Promise<void>) => {
    const statuses: Array<number> = []
    for (let at = 1; at <= most; at++) {
      own = undefined
      left = at
      const { status } = await salon.ask("POST", `/appointments${path}`, body, ann)
      const isWhole = left > 0
      left = 0
      await check()
      statuses.push(status)
      // A cut commit may have been made: then it is refused the next time.
      if (isWhole || [201, 409, 422].includes(status)) return statuses.length
    }
    return assert.fail(`It is not done: ${statuses.join(", ")}`)
  }

  it("leaves no appointment half booked, moved or cancelled", async () => {
    const service = await salon.service()
    const providerId = await salon.provider(service)
    const waits = async (time: string, who = bob) => {
      const window = {
        earliest: salon.at(2, time),
        latest: salon.at(2, time),
        customerName: "Bob",
        customerEmail: "bob@example.com"
      }
      return (await salon.done("POST", "/waiting-list", { serviceTypeId: service, ...window }, who)).text("data.id")
    }
    const place = async (id: string) => (await salon.done("GET", `/waiting-list/${id}`)).at("data.status")
    /** How many appointments there are, when the active ones begin, and the id of the latest. */
    const read = async () => {
      const rows = (await salon.done("GET", `/bookings?providerId=${providerId}`)).list("data").map(Object)
      const active = rows.filter(({ status }) => status === "provisional").map(({ startTime }) =>
        String(startTime).slice(11, 16)
      )
      return { rows: rows.length, active: active.join(" "), id: String(rows[0]?.id) }
    }
    const at = (time: string) => salon.at(2, time)
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
    const [first = ""] = [await salon.provider(service, { timezone: "Europe/Vienna" })]
    const statements = async (path: string) => {
      take()
      const { list } = await salon.done("GET", path, undefined, null)
      assert.isNotEmpty(list("data"))
      return take().filter(({ text }) => text.includes("appointment_")).length
    }
    const one = await statements(`/availability/${first}/slots?date=${salon.day(2)}&serviceTypeId=${service}`)
    for (let n = 0; n < 5; n++) {
      await salon.provider(service, { timezone: n % 2 === 0 ? "Asia/Tokyo" : "America/New_York" })
    }
    const all = await statements(
      `/availability/slots?from=${salon.day(1)}&to=${salon.day(366)}&serviceTypeId=${service}`
    )
    // One looks for the provider first.
    assert.deepStrictEqual([one, all], [8, 7])
  }, 60_000)
})
