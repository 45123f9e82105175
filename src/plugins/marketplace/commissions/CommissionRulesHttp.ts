import { Effect } from "effect"
import { CommissionRules } from "./CommissionRules.ts"
import { createRule, deleteRule, listRules, previewCommission, updateRule } from "./CommissionRulesApi.ts"
import { Commissions } from "./Commissions.ts"

export const commissionRoutes = [
  listRules.handle(({ page }) => Effect.flatMap(CommissionRules, (rules) => rules.page(page))),
  createRule.handle(({ input }) => Effect.flatMap(CommissionRules, (rules) => rules.create(input))),
  updateRule.handle(({ input, params }) => Effect.flatMap(CommissionRules, (rules) => rules.update(params.id, input))),
  deleteRule.handle(({ params }) =>
    Effect.flatMap(CommissionRules, (rules) => rules.remove(params.id)).pipe(Effect.as({ deleted: true as const }))
  ),
  previewCommission.handle(({ input }) =>
    Effect.map(
      Effect.flatMap(Commissions, (commissions) => commissions.preview(input)),
      ({ rateBps, ruleId }) => ({ rateBps, ratePercent: rateBps / 100, ruleId })
    )
  )
]
