"""The ground floor: files, outputs, units, texts. It knows neither configurations nor reports.

outputs ─ write files safely ─▶ marks ─ recognise this program's own files ─▶ files ─ read files of others
"""
