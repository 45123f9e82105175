import type { NewPromotion } from "../../../domain/promotions/Promotion.ts"

/** A code for newcomers, and shipping that costs nothing from 50.00 on without a code. */
export const promotions: ReadonlyArray<NewPromotion> = [
  { code: "WELCOME10", name: "Ten per cent for newcomers", type: "percentage_off_order", value: 10 },
  {
    name: "Free shipping from 50.00",
    type: "free_shipping",
    value: 0,
    isAutomatic: true,
    conditions: { minimumOrderValue: 5000 }
  }
]
