import { Record } from "effect"

/** How goods of an entity type are sold; an entity may decide otherwise (contract-commerce §1). */
export interface TypePolicy {
  /** Counts their units; without it they can always be bought. */
  readonly manageInventory: boolean
  /**
   * Makes it money and not goods, such as a gift card (contract-commerce §2): promotions, modifiers, prices of groups, tax
   * and shipping leave it alone.
   */
  readonly storedValue: boolean
  /** Taxes stored value when it is sold, and not what it pays for. */
  readonly singlePurpose: boolean
  /** Needs shipping and an address. Default: true, and false for stored value. */
  readonly ships: boolean
  /** Whether stored value may pay for it. Default: true, and false for stored value. */
  readonly payableWithStoredValue: boolean
  /** The most units of a line that shoppers buy. Default: as many as a line can have. */
  readonly maxUnitsPerLine: number
}

/** Policies by entity type; what a type leaves out is as for goods of an unknown type. */
export type TypePolicies = Readonly<Record<string, Partial<TypePolicy>>>

const unknownType = {
  manageInventory: true,
  storedValue: false,
  singlePurpose: false,
  maxUnitsPerLine: Number.MAX_SAFE_INTEGER
}

const usual: TypePolicies = {
  digitalDownload: { manageInventory: false, ships: false },
  course: { manageInventory: false, ships: false },
  service: { manageInventory: false, ships: false }
}

/** The policy of a type. */
export const policyOf = (policies: TypePolicies, type: string): TypePolicy => {
  const given = {
    ...(Object.hasOwn(usual, type) ? usual[type] : {}),
    ...(Object.hasOwn(policies, type) ? policies[type] : {})
  }
  const isGoods = given.storedValue !== true
  return { ...unknownType, ships: isGoods, payableWithStoredValue: isGoods, ...given }
}

/** Policies of several sources; for each type, what a later one says of it counts. */
export const mergedPolicies = (sources: ReadonlyArray<TypePolicies>): TypePolicies =>
  sources.reduce((merged, source) => ({
    ...merged,
    ...Record.map(source, (policy, type) => ({ ...(Object.hasOwn(merged, type) ? merged[type] : {}), ...policy }))
  }), {})
