import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const src = fileURLToPath(new URL("../../src", import.meta.url))

const files = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !file.includes("/test/") && !file.includes("kit/testing"))

const matching = (form: RegExp, ...except: ReadonlyArray<string>) =>
  files.filter((file) => form.test(readFileSync(join(src, file), "utf8")) && !except.includes(file)).toSorted()

describe("dates and times that clients send", () => {
  it("are read by one rule: no other file knows the form of a time", () => {
    const time = "domain/platform/text/Time.ts"
    assert.deepStrictEqual(matching(/T\\d\{2\}:\\d\{2\}|T\[\\d/, time), [])
    assert.deepStrictEqual(matching(/T00:00(:00(\.000)?)?Z?[`"']/, time, "plugins/appointments/Openings.ts"), [])
    assert.deepStrictEqual(matching(/adjustForTimeZone/, time, "plugins/scheduled-orders/Slots.ts"), [])
  })

  it("are days of the store: no file takes the day of UTC", () => {
    assert.deepStrictEqual(
      matching(
        /toISOString\(\)\.slice\(0, ?10\)|formatIsoDateUtc|timeZone: "UTC"/,
        "domain/platform/text/BusinessDate.ts",
        "domain/platform/settings/StoreSettings.ts",
        "domain/invoices/Invoice.ts",
        "plugins/kit/Plugin.ts",
        "plugins/appointments/Openings.ts"
      ),
      []
    )
  })

  it("end with the end of a date wherever the field is an end", () => {
    const end =
      /\b(validUntil|validTo|repeatUntil|unpublishAt|expiresAt|until|to)\??: *[^,\n]*\b(Moment|timestamp(?!\.until))\b/
    // Rows of the plugin itself, which no request sends.
    const inner = ["plugins/appointments/WaitingList.ts", "plugins/kit/records/LedgerTables.ts"]
    assert.deepStrictEqual(matching(end, ...inner), [])
  })
})
