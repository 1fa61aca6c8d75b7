"""What both reports use: rendering, words, JUnit properties, Allure labels."""
