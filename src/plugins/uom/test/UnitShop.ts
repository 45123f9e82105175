import { assert, inject } from "@effect/vitest"
import type { Plugin } from "stoa/plugin"
import { createPluginTestApp, type PluginTestOptions } from "stoa/plugin/testing"
import { callsOf } from "../../../../test/support/PluginCalls.ts"

let codes = 0

/** A store with these plugins, of which the first one is `uom`. */
export const openUnitShop = async (plugins: ReadonlyArray<Plugin>, options: PluginTestOptions = {}) => {
  const app = await createPluginTestApp(plugins, {
    postgres: inject("postgres"),
    rateLimits: { api: 1_000_000 },
    ...options
  })
  const calls = callsOf(app, "/uom")
  /** Posts what a test takes for granted; its id. */
  const made = async (path: string, body: unknown): Promise<string> => {
    const answer = await calls.ask("POST", path, body)
    assert.strictEqual(answer.status, 201, JSON.stringify(answer.body))
    return answer.text("data.id")
  }
  /** An entity of the catalog; its id. */
  const entity = async (): Promise<string> => {
    const [row] = await app.db.query(`insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
      select id, 'org_default', 'product', id::text, 'active', true from gen_random_uuid() id returning id`)
    return String(row?.["id"])
  }
  /** Sample rows of `uom` in an organization, for the checks of the kit: a conversion has two units. */
  const samplesIn = async (organization: string) => {
    await app.db.query("insert into organizations (id, slug, name) values ($1, $1, $1) on conflict do nothing", [
      organization
    ])
    const [unit] = await app.db.query(
      `insert into units_of_measure (organization_id, code, name, category) values ($1, 'other', 'Other', 'time')
        returning id`,
      [organization]
    )
    return {
      units_of_measure: { code: "sample" },
      uom_conversions: { toUnitId: unit?.["id"], factorDecimal: "1", factor: "10000" }
    }
  }
  return {
    ...calls,
    app,
    samplesIn,
    entity,
    made,
    unit: (category = "weight", body: object = {}) =>
      made("/uom/units", { code: `u${++codes}`, name: `Unit ${codes}`, category, ...body }),
    conversion: (fromUnitId: string, toUnitId: string, factorDecimal: string, entityId?: string) =>
      made("/uom/conversions", { fromUnitId, toUnitId, factorDecimal, ...(entityId && { entityId }) }),
    unitsOf: (entityId: string, purchaseUomId: string, stockUomId: string, saleUomId = stockUomId) =>
      made(`/uom/entities/${entityId}/uom`, { purchaseUomId, stockUomId, saleUomId })
  }
}

export type UnitShop = Awaited<ReturnType<typeof openUnitShop>>
