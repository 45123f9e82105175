import {
  createPluginTestApp,
  inOrganization,
  type PluginTestApp,
  type TestActor,
  testAdminActor,
  testCustomerActor,
  testNoPermActor,
  testStaffActor,
  withPermissions
} from "stoa/plugin/testing"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { marketplace } from "../index.ts"
import { vendorRoles } from "../parties/VendorPortal.ts"

/*
 * Who may call which route, as a table to review. Every request names an unknown record and has an invalid body: 401 and 403
 * come before both. The tests of the modules cover access to single records. After a change of routes, run
 * `npx vitest run src/plugins/marketplace/test/AccessMatrix.test.ts -u` to update the table.
 */

const unknownId = "00000000-0000-4000-8000-000000000000"

const actors: Readonly<Record<string, TestActor | undefined>> = {
  visitor: undefined,
  "no permission": testNoPermActor,
  customer: testCustomerActor,
  ...Object.fromEntries(
    vendorRoles.map((vendorRole) => [`vendor ${vendorRole}`, { ...testCustomerActor, vendorId: unknownId, vendorRole }])
  ),
  // The session names no role.
  "without role": { ...testCustomerActor, vendorId: unknownId },
  // The vendor of the session is not an id.
  "no vendor": { ...testCustomerActor, vendorId: "acme", vendorRole: "owner" },
  staff: testStaffActor,
  operator: withPermissions(["marketplace:admin"], testStaffActor),
  admin: testAdminActor,
  outsider: inOrganization("org_elsewhere", testAdminActor)
}

describe("every route of the marketplace", () => {
  let app: PluginTestApp
  beforeAll(async () => {
    app = await createPluginTestApp(marketplace(), { postgres: inject("postgres").url })
  }, 60_000)
  afterAll(() => app.close())

  it("responds to each actor as the reviewed table says", async () => {
    const rows: Array<string> = []
    for (const { method, path } of [...app.routes].sort((a, b) => (a.path < b.path ? -1 : 1))) {
      const statuses = await Promise.all(
        Object.entries(actors).map(async ([name, as]) => {
          const { status } = await app.app.request(method, path.replace(/:\w+/g, unknownId), {
            ...(as === undefined ? {} : { as }),
            ...(method === "GET" ? {} : { body: [] })
          })
          return `${name} ${status}`
        })
      )
      rows.push(`${method} ${path}: ${statuses.join(", ")}`)
    }
    await expect(`${rows.join("\n")}\n`).toMatchFileSnapshot("access-matrix.txt")
  }, 60_000)
})
