/** How goods of an entity type are sold; an entity may decide otherwise (contract-commerce §1). */
export interface TypePolicy {
  /** Counts their units; without it they can always be bought. */
  readonly manageInventory: boolean
  /**
   * Makes it money and not goods, such as a gift card (contract-commerce §2): promotions, modifiers, prices of groups, tax
   * and shipping leave it alone, and stored value does not pay for it.
   */
  readonly storedValue: boolean
  /** Needs shipping and an address. Default: true, and false for stored value. */
  readonly ships: boolean
}

/** Policies by entity type; what a type leaves out is as for goods of an unknown type. */
export type TypePolicies = Readonly<Record<string, Partial<TypePolicy>>>

const unknownType: TypePolicy = { manageInventory: true, storedValue: false, ships: true }

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
  return { ...unknownType, ships: given.storedValue !== true, ...given }
}
